"""speedscope profiles against the rules of speedscope's file format.

Tests mindtorch/export/speedscope/speedscope_writer.
"""

import gzip
import json

import pytest

SAMPLES = ["cpu", "full", "npu", "cuda", "hostile", "empty"]
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


@pytest.fixture(params=SAMPLES)
def profile(request, traces):
    return json.loads((traces / f"{request.param}.speedscope.json").read_bytes())


def test_the_file_has_speedscopes_keys(profile):
    assert profile["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert all(isinstance(frame["name"], str) for frame in profile["shared"]["frames"])
    for item in profile["profiles"]:
        assert set(item) == {"type", "name", "unit", "startValue", "endValue", "events"}
        assert item["type"] == "evented" and item["unit"] in UNITS
        assert item["startValue"] <= item["endValue"]


def test_events_are_in_order_and_balanced(profile):
    frames = len(profile["shared"]["frames"])
    for item in profile["profiles"]:
        stack, last = [], item["startValue"]
        for event in item["events"]:
            assert set(event) == {"type", "at", "frame"}
            assert last <= event["at"] <= item["endValue"]
            assert 0 <= event["frame"] < frames
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert event["type"] == "C"
                assert stack.pop() == event["frame"], "a frame is closed that is not the innermost"
        assert not stack


@pytest.mark.parametrize("name", ["cpu", "full", "npu", "hostile"])
def test_the_same_intervals_as_in_the_chrome_trace(traces, name):
    profile = json.loads((traces / f"{name}.speedscope.json").read_bytes())
    chrome = json.loads((traces / f"{name}.json").read_bytes())
    names = [frame["name"] for frame in profile["shared"]["frames"]]
    intervals, stack = [], []
    for item in profile["profiles"]:
        for event in item["events"]:
            if event["type"] == "O":
                stack.append(event)
            else:
                start = stack.pop()
                intervals.append((names[start["frame"]], event["at"] - start["at"]))
    events = [e for e in chrome["traceEvents"] if e["ph"] == "X" and e["cat"] != "Trace" and "derived from stacks" not in e["args"]]
    assert sorted(intervals) == sorted((e["name"], round(e["dur"] * 1000)) for e in events)


def test_gz_holds_the_same_bytes(traces):
    assert gzip.decompress((traces / "full.speedscope.json.gz").read_bytes()) == (traces / "full.speedscope.json").read_bytes()
