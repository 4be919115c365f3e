"""EventList: lists of events and averages, and what they are turned into."""

import copy
import csv
import io
import itertools
import json
import os

import pytest
from mindtorch_v2.autograd.profiler_util import EventList, Interval, Kernel, MemRecordsAcc, StringTable
from mindtorch_v2.profiler import profile, record_function


def test_a_list_of_events_behaves_like_a_list(prof):
    events = prof.events()
    assert len(events) == 4 and bool(events)
    assert [event.name for event in events] == ["outer", "aten::mul", "aten::mul", "aten::add"]
    assert [event.name for event in events[1:3]] == ["aten::mul", "aten::mul"]
    assert next(event.name for event in reversed(events)) == "aten::add" == events[-1].name
    assert [event.name for event in events[::-2]] == ["aten::add", "aten::mul"]
    assert isinstance(events[:2], EventList) and isinstance(events.copy(), list)
    with pytest.raises(IndexError):
        events[4]


def test_a_list_of_events_can_be_changed(prof):
    events = prof.events()
    events.sort(key=lambda event: event.name)
    assert [event.name for event in events] == ["aten::add", "aten::mul", "aten::mul", "outer"]
    del events[1:3]
    assert [row.key for row in events.key_averages()] == ["aten::add", "outer"]
    assert prof.events() is events and [row.key for row in prof.key_averages()] == ["aten::add", "outer"]


def test_sums_and_products_are_plain_lists_as_those_of_torchs_lists_are(prof):
    rows, events, one = prof.key_averages(), prof.events(), [1]
    sums = {"rows and one": (rows + one, [*rows, 1]), "one and rows": (one + rows, [1, *rows]), "both": (rows + events, [*rows, *events])}
    products = {"twice": (rows * 2, [*rows, *rows]), "two times": (2 * rows, [*rows, *rows])}
    for made, expected in (sums | products).values():
        assert type(made) is list and made == expected
    assert events._items is None
    for wrong in (lambda: rows + 1, lambda: 1 + rows, lambda: rows * rows):
        with pytest.raises(TypeError):
            wrong()


def test_a_list_can_be_extended_in_place(prof):
    events = same = prof.events()
    events += events[1:2]
    assert events is same and isinstance(events, EventList) and len(events) == 5 and events[-1].name == "aten::mul"
    events *= 2
    assert events is same and len(events) == 10
    events += itertools.islice(events, 100)  # this would yield all 100 if the list grew while it is walked
    assert len(events) == 20
    events += events
    assert len(events) == 40


def test_a_copy_does_not_follow_the_original(prof):
    events = prof.events()
    twin = copy.copy(events)
    events.clear()
    assert len(twin) == 4


def test_a_large_list_is_walked_without_keeping_its_objects(op):
    with profile() as prof:
        for _ in range(1000):
            op("aten::mul")
    events = prof.events()
    assert sum(event["duration_ns"] for event in events) > 0 and events._items is None


def test_a_part_of_the_list_can_be_averaged(prof):
    rows = prof.events()[1:].key_averages(group_by_input_shapes=True)
    assert [(row.key, row.input_shapes, row.count) for row in rows] == [
        ("aten::mul", [[2, 3], [2, 3]], 1),
        ("aten::mul", [[4, 4], [4, 4]], 1),
        ("aten::add", [[2, 3]], 1),
    ]


def test_averages_of_averages_are_refused_with_torchs_text(prof):
    with pytest.raises(AssertionError, match="^Expected tree to be built before calling key_averages$"):
        prof.key_averages().key_averages()


def test_the_text_of_a_list_is_its_table(prof):
    assert str(prof.events()) == prof.events().table() and "aten::mul" in str(prof.key_averages())


# Rule: averages.total
def test_the_total_is_the_sum_of_all(prof):
    rows = prof.key_averages()
    total = rows.total_average()
    assert total.key == "Total" and total.count == 4 == prof.events().total_average().count
    assert total.self_cpu_time_total == pytest.approx(rows.self_cpu_time_total) == pytest.approx(prof.events().self_cpu_time_total)


# Rule: averages.total
def test_an_empty_recording_has_empty_lists():
    with profile() as prof:
        pass
    rows = prof.key_averages()
    assert len(rows) == 0 and rows.total_average().count == 0 and rows.total_average().cpu_time == 0.0
    assert len(prof.events()) == 0 and rows.self_cpu_time_total == 0 and rows.table() == ""


def test_a_list_of_events_is_exported_as_torch_does(prof, tmp_path):
    prof.events().export_chrome_trace(tmp_path / "list.json")
    written = json.loads((tmp_path / "list.json").read_text())
    assert [event["name"] for event in written] == ["outer", "aten::mul", "aten::mul", "aten::add"]
    assert written[1]["ph"] == "X" and written[1]["pid"] == "CPU functions" and written[1]["args"] == {}


# Rule: averages.trace
def test_averages_are_exported_one_event_a_row(prof, tmp_path):
    prof.key_averages().export_chrome_trace(tmp_path / "rows.json")
    written = json.loads((tmp_path / "rows.json").read_text())
    assert [event["name"] for event in written] == ["outer", "aten::mul", "aten::add"]
    assert written[1]["args"]["count"] == 2 and written[1]["pid"] == os.getpid() and {"ts", "dur", "tid", "cat"} <= set(written[1])


def test_averages_are_a_dictionary_and_csv(prof, tmp_path):
    rows = prof.key_averages(group_by_input_shape=True)
    as_dict = rows.to_dict()
    assert [row["key"] for row in as_dict["rows"]] == [row.key for row in rows]
    assert as_dict["rows"][1]["input_shapes"] == [[2, 3], [2, 3]] and as_dict["total"]["count"] == 4 and as_dict["losses"] == []
    read = list(csv.DictReader(io.StringIO(rows.to_csv())))
    assert [row["key"] for row in read] == [row.key for row in rows] and read[1]["count"] == "1"
    assert rows.to_csv(tmp_path / "rows.csv") is None and (tmp_path / "rows.csv").read_bytes().decode() == rows.to_csv()


def test_events_are_a_dictionary_and_csv(prof):
    events = prof.events().to_dict()["events"]
    assert [event["name"] for event in events] == ["outer", "aten::mul", "aten::mul", "aten::add"]
    assert len(list(csv.DictReader(io.StringIO(prof.events().to_csv())))) == 4


def test_events_and_averages_are_data_frames(prof):
    pandas = pytest.importorskip("pandas")
    frame = prof.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 4
    assert list(frame["name"]) == ["outer", "aten::mul", "aten::mul", "aten::add"]
    assert list(frame["duration_ns"]) == [event["duration_ns"] for event in prof.events()]
    assert list(frame["start_ns"]) == [event["start_ns"] for event in prof.events()]
    assert frame["input_shapes"][1] == "[[2, 3], [2, 3]]" and frame["stack"][1].count(":") > 1
    rows = prof.key_averages().to_pandas()
    assert list(rows["key"]) == ["outer", "aten::mul", "aten::add"] and list(rows["count"]) == [1, 2, 1]


def test_a_notebook_shows_a_table(prof):
    with profile() as named, record_function("<script>alert(1)</script>"):
        pass
    for shown in (prof.key_averages(), prof.events(), prof.key_averages(group_by_input_shape=True, group_by_stack_n=3)):
        page = shown._repr_html_()
        assert "<table" in page and "aten::mul" in page and "Self CPU" in page and "Total" in page
    assert "<script>" not in named.key_averages()._repr_html_()


def test_small_parts_behave_as_torchs():
    assert Interval(2, 5).elapsed_us() == 3
    assert Kernel("k", 0, 1.5)._fields == ("name", "device", "duration")
    assert StringTable()["_ZN5torch3addEv"] == "torch::add()" and StringTable()["t"] == "t"

    class Record:
        def __init__(self, start):
            self.start = start

        def start_ns(self):
            return self.start

    records = [(Record(start), start) for start in (30, 10, 20)]
    assert [value for _, value in MemRecordsAcc(records).in_interval(10, 20)] == [10, 20]
