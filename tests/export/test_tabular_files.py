"""Averages and events as files, read by Python's own readers: the events of the Chrome trace, whatever their names.

Tests mindtorch/export/tabular/tabular_writer.
"""

import csv
import json
import re
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


def in_csv(name):
    """What a CSV cell holds for a name: no control characters, and nothing that a spreadsheet runs."""
    text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]", "\ufffd", name)
    return "'" + text if text[:1] in set("=+-@\t\r\n") else text


def chrome_events(traces, name):
    elements = [e for e in read_json(traces / f"{name}.json")["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace"]
    return [e for e in elements if "derived from stacks" not in e["args"]]


def test_events_are_those_of_the_chrome_trace(traces, name):
    expected = Counter((e["name"], round(e["dur"] * 1000)) for e in chrome_events(traces, name))
    events = read_json(traces / f"{name}.events.json")["events"]
    # As torch does, memory reports outside of any event are listed as events.
    assert Counter((e["name"], e["duration_ns"]) for e in events if e["name"] != "[memory]") == expected
    rows = [(row["name"], int(row["duration_ns"])) for row in read_csv(traces / f"{name}.events.csv")]
    assert rows == [(in_csv(e["name"]), e["duration_ns"]) for e in events]


def test_no_cell_is_a_formula_or_holds_a_control_character(traces):
    rows = read_csv(traces / "hostile.events.csv")
    for row in rows:
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "".join(row.values()))
        assert row["name"][:1] not in set("=+-@\t\r\n") - {""}
    assert '\'=HYPERLINK("http://example.invalid")' in [row["name"] for row in rows]


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
    assert [row["key"] for row in read_csv(traces / f"{name}.averages.csv")] == [in_csv(row["key"]) for row in rows]
