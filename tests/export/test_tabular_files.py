"""Averages and events as files, read by Python's own readers: the events of the Chrome trace, whatever their names."""

import csv
import json
from collections import Counter

import pytest

csv.field_size_limit(1 << 24)  # there is a name of a megabyte

SAMPLES = ["cpu", "full", "npu", "cuda", "hostile", "empty"]


@pytest.fixture(params=SAMPLES)
def name(request):
    return request.param


def read_json(path):
    return json.loads(path.read_bytes())


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def chrome_events(traces, name):
    return [e for e in read_json(traces / f"{name}.json")["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"]


def test_events_are_those_of_the_chrome_trace(traces, name):
    expected = Counter((e["name"], round(e["dur"] * 1000)) for e in chrome_events(traces, name))
    events = read_json(traces / f"{name}.events.json")["events"]
    rows = read_csv(traces / f"{name}.events.csv")
    for listed in (events, rows):
        # As torch does, memory reports outside of any event are listed as events.
        assert Counter((e["name"], int(e["duration_ns"])) for e in listed if e["name"] != "[memory]") == expected


def test_averages_count_every_event_once(traces, name):
    steps_as_one = Counter(
        "ProfilerStep*" if e["name"].startswith("ProfilerStep#") else e["name"]
        for e in chrome_events(traces, name)
        if e["cat"] != "python_function"
    )
    rows = read_json(traces / f"{name}.averages.json")["rows"]
    counts = Counter()
    for row in rows:
        counts[row["key"]] += row["count"]
    counts.pop("[memory]", None)  # reports outside of any event
    assert counts == steps_as_one
    assert [row["key"] for row in read_csv(traces / f"{name}.averages.csv")] == [row["key"] for row in rows]
