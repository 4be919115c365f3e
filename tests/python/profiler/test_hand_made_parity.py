"""The same hand-made events as torch's and as ours: trees, averages, tables, files."""

import inspect
import json
import random

import mindtorch_v2.autograd.profiler_util as ours
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
theirs = pytest.importorskip("torch.autograd.profiler_util")


def random_arguments(generator, position):
    """What an event is made of, with times that floats can hold exactly."""
    start = generator.randrange(400) / 4
    arguments = {
        "id": position + 1,
        "name": generator.choice(["aten::mul", "aten::add", "a rather long name of an op that has to be cut somewhere", "aten::mm"]),
        "thread": generator.choice([1, 2]),
        "start_us": start,
        "end_us": start + generator.randrange(1, 200) / 4,
        "stack": generator.choice([[], ["a.py:1:f"], ["b.py:2:g", "a.py:1:f"]]),
        "input_shapes": generator.choice([[], [[2, 3], []], [[4]]]),
        "overload_name": generator.choice(["", "Tensor"]),
        "sequence_nr": generator.choice([-1, 1, 2]),
        "flops": generator.choice([0, 2048]),
        "cpu_memory_usage": generator.randrange(-4096, 4096),
        "device_memory_usage": generator.randrange(4096),
        "is_async": generator.random() < 0.1,
        "is_legacy": generator.random() < 0.1,
        "is_remote": generator.random() < 0.1,
        "use_device": "cuda",
        "trace_name": generator.choice([None, "traced", "other"]),
    }
    if generator.random() < 0.2:
        arguments |= {"scope": 1, "fwd_thread": 1}
    return arguments


def both_lists(seed, with_flops=False, size=40):
    generator = random.Random(seed)
    options = {"use_device": "cuda", "profile_memory": generator.random() < 0.5, "with_flops": with_flops}
    lists = (theirs.EventList(**options), ours.EventList(**options))
    for position in range(size):
        arguments = random_arguments(generator, position)
        arguments["node_id"] = arguments["thread"] - 2  # torch loses its way where nodes alternate on one thread
        on_device = position == 0 or generator.random() < 0.1
        kernel = None if on_device or generator.random() < 0.5 else ("kernel", 0, generator.randrange(100) / 4)
        for module, made in zip((theirs, ours), lists, strict=True):
            device_type = module.DeviceType.CUDA if on_device else module.DeviceType.CPU
            made.append(module.FunctionEvent(**arguments, device_type=device_type))
            if kernel:
                made[-1].append_kernel(*kernel)
    return lists


def attributes_of(event):
    """All that can be compared: relations by their ids."""
    values = {}
    for name in dir(event):
        value = getattr(event, name)
        if name.startswith("_") or callable(value) or name in ("time_range", "device_type"):
            continue
        values[name] = value
    values["cpu_children"] = [child.id for child in event.cpu_children]
    values["cpu_parent"] = event.cpu_parent and event.cpu_parent.id
    values["time_range"] = (event.time_range.start, event.time_range.end)
    values["device_type"] = event.device_type.name
    return values


def without_last_line(table):
    *lines, last, end = table.split("\n")
    assert last.startswith("Total ") and end == ""
    return "".join(line + "\n" for line in lines)


def test_events_are_made_from_torchs_arguments():
    def parameters(function):
        return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]

    assert parameters(ours.FunctionEvent) == parameters(theirs.FunctionEvent)
    for method in ("append_kernel", "append_cpu_child", "set_cpu_parent"):
        assert parameters(getattr(ours.FunctionEvent, method)) == parameters(getattr(theirs.FunctionEvent, method))


def test_an_event_has_torchs_attributes_and_values():
    for arguments in ({}, {"extra_meta": {"stream": "7", "Rank": "2", "dtype": '"Float"', "grid": "[1, 2]"}, "metadata_json": "x"}):
        events = [module.FunctionEvent(3, "f", 1, 2, 4.5, **arguments) for module in (ours, theirs)]
        assert attributes_of(events[0]) == attributes_of(events[1])
        assert repr(events[0]) == repr(events[1])


def test_torchs_device_types_are_accepted():
    event = ours.FunctionEvent(1, "k", 0, 0, 1, device_type=theirs.DeviceType.CUDA, use_device="cuda")
    assert event.device_type == ours.DeviceType.CUDA and event.device_time_total == 1


@pytest.mark.parametrize("seed", range(20))
def test_trees_are_torchs(seed):
    their_list, my_list = both_lists(seed)
    their_list._build_tree()
    my_list._build_tree()
    assert [attributes_of(event) for event in my_list] == [attributes_of(event) for event in their_list]
    assert [repr(event) for event in my_list] == [repr(event) for event in their_list]


ROW = """key count node_id is_async is_remote use_device cpu_time_total device_time_total self_cpu_time_total self_device_time_total
input_shapes overload_name stack scope cpu_memory_usage device_memory_usage self_cpu_memory_usage self_device_memory_usage is_legacy flops
is_user_annotation cpu_time device_time cpu_time_str device_time_total_str""".split()


@pytest.mark.parametrize("group", [{}, {"group_by_input_shapes": True}, {"group_by_stack_n": 2}, {"group_by_overload_name": True}])
@pytest.mark.parametrize("seed", range(8))
def test_averages_are_torchs(seed, group, at_most_100):
    # With stacks torch writes FLOPs under the wrong header.
    lists = both_lists(seed, with_flops=seed % 2 == 0 and "group_by_stack_n" not in group)
    for made in lists:
        made._build_tree()
    their_rows, my_rows = (made.key_averages(**group) for made in lists)
    for row, twin in zip(my_rows, their_rows, strict=True):
        assert {name: getattr(row, name) for name in ROW} == {name: getattr(twin, name) for name in ROW}
        assert [child.id for child in row.cpu_children] == [child.id for child in twin.cpu_children]
        assert (row.cpu_parent and row.cpu_parent.id) == (twin.cpu_parent and twin.cpu_parent.id)
    assert [repr(row) for row in my_rows] == [repr(row) for row in their_rows]
    assert without_last_line(my_rows.table()) == at_most_100(their_rows.table())
    their_total, my_total = (made.total_average() for made in lists)
    for name in ("key", "count", "self_cpu_time_total", "device_time_total", "flops", "cpu_memory_usage"):
        assert getattr(my_total, name) == getattr(their_total, name), name


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sort_by": "self_cpu_time_total", "row_limit": 7},
        {"sort_by": "self_cuda_time_total", "header": "a header", "max_name_column_width": 20},
        {"top_level_events_only": True, "time_unit": "ms", "max_src_column_width": 10},
    ],
)
@pytest.mark.parametrize("seed", range(8))
def test_tables_are_torchs(seed, options, at_most_100):
    lists = both_lists(seed)
    for made in lists:
        made._build_tree()
        for event in made:
            event.is_legacy = False
    their_list, my_list = lists
    assert without_last_line(my_list.table(**options)) == at_most_100(their_list.table(**options))


@pytest.mark.parametrize("seed", range(4))
def test_files_are_torchs(seed, tmp_path):
    lists = both_lists(seed)
    traces, stacks = [], []
    for name, made in zip(("theirs", "mine"), lists, strict=True):
        for event in made:
            event.time_range.end = event.time_range.start + round(event.time_range.elapsed_us()) + 1
        made.export_chrome_trace(str(tmp_path / f"{name}.json"))
        made.export_stacks(str(tmp_path / f"{name}.txt"), "self_cpu_time_total")
        traces.append(json.loads((tmp_path / f"{name}.json").read_text()))
        stacks.append((tmp_path / f"{name}.txt").read_text())
    # torch writes a remote thread as a text in an event, and as a number in its arrows.
    for event in traces[1]:
        if event["ph"] == "s" and isinstance(event["tid"], str):
            event["tid"] = int(event["tid"].rsplit(":", 1)[1])
    assert traces[0] == traces[1] and stacks[0] == stacks[1]
