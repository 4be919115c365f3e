"""JSON and CSV of averages and events, read by Python's own readers."""

import csv
import io
import json
import subprocess

import pytest

HOSTILE = ['"quoted"', "back\\slash", "new\nline", "tab\tand, comma", "größe 😀", "</script>", "=1+1", "x" * 100000, " edges "]


def describe():
    """Two calls of an op for each hostile name, the second a child of a scope, with shapes and a stack."""
    yield "options\tshapes\tstacks\tflops"
    yield "thread"
    for i, name in enumerate(HOSTILE):
        escaped = name.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
        yield f"event\t2\t0\t{i * 1000}\t900\t0\t0\tscope"
        for start in (i * 1000, i * 1000 + 400):
            yield f"event\t0\t0\t{start}\t123\t0\t0\t{escaped}"
            yield "shapes\t2x3;-;s"
            yield "stack\ttrain.py\t3\tmain"


@pytest.fixture(scope="module")
def printed(program):
    questions = [(what, form) for what in ("averages", "events") for form in ("json", "csv")]
    lines = [*describe(), *(f"tabular\t{what}\t{form}" for what, form in questions)]
    done = subprocess.run([program("table_tool")], input=("\n".join(lines) + "\n").encode(), capture_output=True, check=True)
    return dict(zip(questions, done.stdout.decode().split("\f\n"), strict=False))


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_names_survive_in_every_format(printed):
    expected = ["scope", *HOSTILE]
    in_csv = ["'=1+1" if name == "=1+1" else name for name in expected]  # a spreadsheet would run it
    assert sorted(row["key"] for row in json.loads(printed["averages", "json"])["rows"]) == sorted(expected)
    assert sorted(row["key"] for row in rows_of(printed["averages", "csv"])) == sorted(in_csv)
    assert {event["name"] for event in json.loads(printed["events", "json"])["events"]} == set(expected)
    assert {event["name"] for event in rows_of(printed["events", "csv"])} == set(in_csv)


def test_averages_say_the_same_in_both_formats(printed):
    document = json.loads(printed["averages", "json"])
    for row, line in zip(document["rows"], rows_of(printed["averages", "csv"]), strict=True):
        assert line.keys() >= row.keys()
        assert float(line["cpu_time_total"]) == row["cpu_time_total"]
        assert int(line["count"]) == row["count"]
        assert json.loads(line["input_shapes"]) == row["input_shapes"]
    for row in document["rows"]:
        if row["key"] != "scope":
            assert (row["cpu_time_total"], row["stack"], row["input_shapes"]) == (0.246, ["train.py:3:main"], [[2, 3], [], []])
    assert document["total"]["count"] == 3 * len(HOSTILE)
    assert document["losses"] == []


def test_events_say_the_same_in_both_formats(printed):
    events = json.loads(printed["events", "json"])["events"]
    for event, line in zip(events, rows_of(printed["events", "csv"]), strict=True):
        assert int(line["start_ns"]) == event["start_ns"]
        assert int(line["duration_ns"]) == event["duration_ns"]
        assert line["parent_id"] == str(event.get("parent_id", ""))
    by_id = {event["id"]: event for event in events}
    assert all(by_id[event["parent_id"]]["name"] == "scope" for event in events if event["name"] != "scope")
    assert all(event["kind"] == ("scope" if event["name"] == "scope" else "op") for event in events)
