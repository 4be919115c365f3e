"""EventList: lists of events and averages, their tables and files."""

import copy
import csv
import io
import json
import os
import pickle

import pytest
from mindtorch_v2.autograd.profiler_util import EventList, FunctionEventAvg, Interval, Kernel, MemRecordsAcc, StringTable
from mindtorch_v2.profiler import profile, record_function

ATTRIBUTES_OF_EVENTS = """id node_id name overload_name trace_name time_range thread fwd_thread kernels count cpu_children cpu_parent
input_shapes concrete_inputs kwinputs stack scope use_device cpu_memory_usage device_memory_usage is_async is_remote sequence_nr
device_type device_index device_resource_id is_legacy flops is_user_annotation is_python_function activity_type self_cpu_percent
total_cpu_percent total_device_percent flow_id flow_type flow_start external_id linked_correlation_id event_metadata
structured_input_shapes structured_input_strides input_dtypes python_id python_parent_id python_module_id key cpu_time_total
self_cpu_time_total device_time_total self_device_time_total self_cpu_memory_usage self_device_memory_usage cpu_time device_time
cpu_time_str device_time_str cpu_time_total_str device_time_total_str self_cpu_time_total_str self_device_time_total_str""".split()


@pytest.fixture
def prof(op):
    with profile(record_shapes=True, with_stack=True, profile_memory=True) as prof, record_function("outer"):
        op("aten::mul", [2, 3], [2, 3])
        op("aten::mul", [4, 4], [4, 4])
        op("aten::add", [2, 3])
    return prof


# Events


def test_an_event_has_every_attribute_of_torchs(prof):
    event = prof.events()[1]
    missing = [name for name in ATTRIBUTES_OF_EVENTS if not hasattr(event, name)]
    assert missing == []
    assert event.activity_type == "cpu_op" and event.scope == 0 and event.sequence_nr == -1
    assert event.input_shapes == [[2, 3], [2, 3]] == event.structured_input_shapes
    assert event.cpu_parent.name == "outer" and event.cpu_parent.cpu_children[0] == event
    assert event.cpu_parent.scope == 7 and event.cpu_parent.is_user_annotation
    assert event.id == event.external_id and event.kernels == [] and event.count == 1


def test_self_time_is_total_time_less_that_of_the_children(prof):
    outer = prof.events()[0]
    children = sum(child.cpu_time_total for child in outer.cpu_children)
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - children, abs=1e-6)


@pytest.mark.parametrize("name", ["cuda_time", "cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage", "metadata_json"])
def test_deprecated_attributes_warn_at_the_users_line(prof, name):
    with pytest.warns(FutureWarning, match=f"^`{name}` is deprecated") as caught:
        getattr(prof.events()[0], name)
    assert caught[0].filename == __file__


def test_the_repr_of_an_event_is_torchs(prof):
    text = repr(prof.events()[1])
    assert text.startswith("<FunctionEvent id=") and "device_type=DeviceType.CPU node_id=-1 cpu_time=" in text
    assert "input_shapes=[[2, 3], [2, 3]]" in text and text.endswith("seq_nr=-1 is_legacy=False>")


def test_an_event_can_be_turned_into_json(prof):
    assert json.loads(json.dumps([dict(event) for event in prof.events()]))[1]["device_type"] == "CPU"


def test_an_event_offers_the_methods_of_a_mapping(prof):
    event = prof.events()[1]
    assert list(event.keys()) == list(event) == [key for key, _ in event.items()]
    assert next(iter(event.values())) == "aten::mul" and len(event) == len(list(event))
    assert event.get("name") == "aten::mul" and event.get("none") is None and event.get("none", 3) == 3
    assert "name" in event and "none" not in event and 3 not in event
    assert {**event}["name"] == "aten::mul"


def test_events_are_equal_to_themselves_only(prof):
    events = prof.events()
    assert events[0] == events[0] and events[0] != events[1] and hash(events[0]) == hash(events[0])
    assert events[0] != {} and events.index(events[2]) == 2 and events[1] in events
    assert len({events[0], events[0], events[1]}) == 2


# Lists


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
    assert len(prof.events()) == 4


def test_a_copy_does_not_follow_the_original(prof):
    events = prof.events()
    twin = copy.copy(events)
    events.clear()
    assert len(twin) == 4


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


def test_the_total_is_the_sum_of_all(prof):
    rows = prof.key_averages()
    total = rows.total_average()
    assert total.key == "Total" and total.count == 4 == prof.events().total_average().count
    assert total.self_cpu_time_total == pytest.approx(rows.self_cpu_time_total) == pytest.approx(prof.events().self_cpu_time_total)


def test_an_empty_recording_has_empty_lists():
    with profile() as prof:
        pass
    rows = prof.key_averages()
    assert len(rows) == 0 and rows.total_average().count == 0 and rows.total_average().cpu_time == 0.0
    assert len(prof.events()) == 0 and rows.self_cpu_time_total == 0 and rows.table() == ""


# Tables


def test_the_table_is_sorted_by_an_attribute_largest_first(prof):
    lines = prof.key_averages().table(sort_by="count").splitlines()
    assert lines[3].split()[0] == "aten::mul"


def test_an_unknown_attribute_to_sort_by_is_refused(prof):
    with pytest.raises(AttributeError, match="^'FunctionEventAvg' object has no attribute 'zz'$"):
        prof.key_averages().table(sort_by="zz")
    with pytest.raises(AttributeError, match="^'FunctionEvent' object has no attribute 'zz'$"):
        prof.events().table(sort_by="zz")


@pytest.mark.parametrize("limit, rows", [(0, 0), (1, 1), (-1, 3), (None, 3), (100, 3)])
def test_the_table_shows_as_many_rows_as_asked(prof, limit, rows):
    table = prof.key_averages().table(row_limit=limit)
    assert sum(name in table for name in ("outer", "aten::mul", "aten::add")) == rows


def test_the_table_can_show_top_level_events_only(prof):
    table = prof.key_averages().table(top_level_events_only=True)
    assert "outer" in table and "aten::mul" not in table and "This report only display top-level ops statistics" in table


def test_widths_and_units_of_a_table_can_be_chosen(prof):
    table = prof.key_averages().table(max_name_column_width=8, time_unit="s", header="the header")
    assert "aten:..." in table and "the header" in table
    assert not [word for word in table.split() if word.endswith(("us", "ms")) and word[0].isdigit()]


# Rows


def test_a_row_made_by_hand_is_filled_by_adding(prof):
    row = FunctionEventAvg()
    assert row.key is None and row.count == 0 and row.node_id == 0
    first, second = prof.events()[1:3]
    assert row.add(first) is row
    row += second
    assert (row.key, row.count) == ("aten::mul", 2)
    assert row.cpu_time_total == pytest.approx(first.cpu_time_total + second.cpu_time_total)
    with pytest.raises(AssertionError, match="^Expected keys to match, but got aten::add vs aten::mul$"):
        row.add(prof.events()[3])
    with pytest.raises(AssertionError, match="^Expected other to be a FunctionEvent or FunctionEventAvg$"):
        row.add(3)


def test_a_list_made_by_hand_prints_its_rows():
    row = FunctionEventAvg()
    row.key, row.count, row.cpu_time_total, row.self_cpu_time_total = "made by hand", 2, 3.5, 1.5
    rows = EventList([row], use_device=None, profile_memory=True, with_flops=True)
    assert "made by hand" in rows.table() and "CPU Mem" in rows.table() and "3.500us" in rows.table()


def test_rows_can_be_read_and_set_as_torchs(prof):
    row = prof.key_averages()[1]
    for name, value in {
        "key": "k", "count": 2, "node_id": 1, "is_async": True, "is_remote": True, "use_device": "cuda", "cpu_time_total": 1.5,
        "device_time_total": 2.5, "self_cpu_time_total": 0.5, "self_device_time_total": 1.25, "input_shapes": [[1], [2, 3]],
        "overload_name": "out", "stack": ["a:1:b"], "scope": 7, "cpu_memory_usage": -4, "device_memory_usage": 8,
        "self_cpu_memory_usage": 1, "self_device_memory_usage": 2, "is_legacy": True, "flops": 9, "is_user_annotation": True,
    }.items():  # fmt: skip
        setattr(row, name, value)
        assert getattr(row, name) == value, name
    assert repr(row) == (
        "<FunctionEventAvg key=k self_cpu_time=0.500us cpu_time=0.750us  self_cuda_time=1.250us cuda_time=1.250us "
        "input_shapes=[[1], [2, 3]] cpu_memory_usage=-4 cuda_memory_usage=8>"
    )


def test_rows_and_lists_of_them_can_be_copied_and_pickled(prof):
    rows = prof.key_averages(group_by_input_shape=True)
    for twin in (copy.deepcopy(rows), pickle.loads(pickle.dumps(rows))):
        assert [repr(row) for row in twin] == [repr(row) for row in rows] and twin[0] is not rows[0]
        assert twin.table(row_limit=0) == rows.table(row_limit=0)


def test_a_row_knows_the_parent_and_children_of_its_first_event(prof):
    outer, mul, _ = prof.key_averages()
    assert outer.cpu_parent is None and mul.cpu_parent.name == "outer" and len(outer.cpu_children) == 3


def test_rows_without_shapes_and_stacks_have_torchs_defaults(prof):
    row = prof.key_averages()[1]
    assert row.input_shapes == "" and row.stack == [] and row.overload_name == "" and row.use_device is None
    assert row.cpu_time_str.endswith("us") and row.device_time_total_str == "0.000us"


# Files


def test_a_list_of_events_is_exported_as_torch_does(prof, tmp_path):
    prof.events().export_chrome_trace(tmp_path / "list.json")
    written = json.loads((tmp_path / "list.json").read_text())
    assert [event["name"] for event in written] == ["outer", "aten::mul", "aten::mul", "aten::add"]
    assert written[1]["ph"] == "X" and written[1]["pid"] == "CPU functions" and written[1]["args"] == {}


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


# Small parts of torch.autograd.profiler_util


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


def test_a_large_list_is_walked_without_keeping_its_objects(op):
    with profile() as prof:
        for _ in range(1000):
            op("aten::mul")
    events = prof.events()
    assert sum(event["duration_ns"] for event in events) > 0 and events._items is None
