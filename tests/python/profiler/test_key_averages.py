"""Rows of key_averages(): how they are grouped, read, changed and copied."""

import copy
import pickle

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.autograd.profiler_util import EventList, FunctionEventAvg
from mindtorch_v2.profiler import profile, record_function
from profiles import record_ops, train


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


# Rule: averages.defaults
def test_rows_without_shapes_and_stacks_have_torchs_defaults(prof):
    row = prof.key_averages()[1]
    assert row.input_shapes == "" and row.stack == [] and row.overload_name == "" and row.use_device is None
    assert row.cpu_time_str.endswith("us") and row.device_time_total_str == "0.000us"


# Rule: averages.groups


def test_averages_group_by_name_and_device_type():
    x = torch.ones((2, 2))
    with profile() as prof:
        for _ in range(3):
            x * x
        x + x
    rows = {row.key.split("::")[-1]: row for row in prof.key_averages()}
    assert rows["mul"].count == 3 and rows["add"].count == 1
    assert rows["mul"].cpu_time_total >= rows["mul"].self_cpu_time_total > 0
    assert rows["mul"].cpu_time == pytest.approx(rows["mul"].cpu_time_total / 3)


def test_averages_are_added_up_only_when_asked_for(op):
    """A profile has no rows until key_averages() is called, and each call adds up what is there at that time."""
    with profile() as prof:
        op("aten::mul")
        assert len(prof.key_averages()) == 0
    first, second = prof.key_averages(), prof.key_averages()
    assert first[0] is not second[0] and (first[0].key, first[0].count) == (second[0].key, second[0].count)
    first[0].count = 99
    assert prof.key_averages()[0].count == 1


# Rule: stacks_file.lines


def test_rows_have_the_fields_of_devices():
    with profile() as prof:
        torch.ones((2, 2)) * 2
    for row in prof.key_averages():
        assert (row.self_device_time_total, row.device_time_total, row.device_time) == (0, 0, 0)


# Rule: averages.rows


def test_rows_have_torchs_attributes_and_are_not_subscriptable(op):
    row = record_ops(op).key_averages()[0]
    assert (row.key, row.count, row.node_id, row.is_async) == ("aten::mul", 3, -1, False)
    with pytest.raises(TypeError):
        row["key"]


def test_list_behaviour_acts_on_the_rows_that_the_table_prints(op):
    with profile() as prof:
        for name in ("aten::a", "aten::b", "aten::c"):
            op(name)
    rows = prof.key_averages()
    first = rows.pop(0)
    assert first.key == "aten::a" and "aten::a" not in rows.table()
    rows.append(first)
    assert rows[-1] is first and rows.index(first) == 2 and rows.count(first) == 1
    rows.sort(key=lambda row: row.key, reverse=True)
    assert [row.key for row in rows] == ["aten::c", "aten::b", "aten::a"]
    assert rows.table().index("aten::c") < rows.table().index("aten::b")
    rows.reverse()
    rows.remove(first)
    rows.insert(0, first)
    rows.extend([])
    assert isinstance(rows.copy(), list) and rows.copy()[0] is first
    first.count = 77
    assert "77" in rows.table()
    rows.clear()
    assert len(rows) == 0 and rows.table() == ""


# Rule: averages.dictionaries


def test_rows_can_be_read_as_dictionaries_and_built_from_them(op):
    with profile() as prof, record_function("scope"):
        op("aten::mul", [2, 2])
        op("aten::mul", [2, 2])
    rows = prof.key_averages()
    for row, as_dict in zip(rows, rows._build_rows(), strict=True):
        assert as_dict["name"] == row.key and 0 <= as_dict["self_time_ns"] <= as_dict["total_time_ns"]
        assert as_dict["total_time_ns"] == pytest.approx(row.cpu_time_total * 1000)
        twin = row.__class__(dict(row._row))
        assert repr(twin) == repr(row) and twin._row == row._row and twin is not row
    count = rows[1].count
    assert rows[1].add(rows[1].__class__(dict(rows[1]._row))).count == 2 * count


@pytest.mark.parametrize("group", [{}, {"group_by_input_shapes": True}, {"group_by_stack_n": 2}, {"group_by_overload_name": True}])
def test_a_part_of_the_events_is_grouped_as_the_whole_is(group):
    def values(row):
        return row.key, row.count, row.cpu_time_total, row.self_cpu_time_total, row.input_shapes, row.stack, row.overload_name

    with profile(record_shapes=True, with_stack=True) as prof:
        train()
    events = prof.events()
    whole = [values(row) for row in events.key_averages(**group)]
    listed = EventList._of(list(events), events._context, None, tree_built=True)
    assert len(whole) > 10
    assert [values(row) for row in events[:].key_averages(**group)] == whole
    assert [values(row) for row in listed.key_averages(**group)] == whole
