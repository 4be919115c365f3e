"""FunctionEvent and EventList made by hand, as programs (and torch's own tests) make them."""

import copy
import gc
import json
import pickle
import weakref

import pytest
from mindtorch_v2.autograd.profiler_util import EventList, FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Kernel
from mindtorch_v2.profiler import DeviceType, profile


def event(start, end, name="f", *, id=0, thread=1, **options):
    return FunctionEvent(id, name, thread, start, end, **{"stack": [], "input_shapes": [], **options})


def tree(*events, **options):
    made = EventList(events, **options)
    made._build_tree()
    return made


def ids(events):
    return [child.id for child in events]


def test_an_event_is_what_its_maker_says():
    made = event(2, 5.5, "mul", id=7, stack=["a:1:f"], flops=8, sequence_nr=3, cpu_memory_usage=-4)
    assert (made.id, made.name, made.key, made.thread, made.device_resource_id) == (7, "mul", "mul", 1, 1)
    assert made.time_range.elapsed_us() == made.cpu_time_total == made.cpu_time == made.self_cpu_time_total == 3.5
    assert (made.count, made.kernels, made.cpu_children, made.cpu_parent) == (1, [], [], None)
    assert (made.stack, made.flops, made.sequence_nr, made.cpu_memory_usage) == (["a:1:f"], 8, 3, -4)
    assert made.cpu_time_str == "3.500us" and made.device_type == DeviceType.CPU == "CPU"
    assert made.self_cpu_percent == made.total_cpu_percent == made.total_device_percent == -1
    made.name = "changed"
    assert made.key == "changed"


def test_recorded_and_hand_made_events_are_of_one_type(op):
    with profile() as prof:
        op("aten::mul")
    recorded = prof.events()[0]
    for one in (recorded, event(0, 1)):
        assert isinstance(one, FunctionEvent) and isinstance(one, FormattedTimesMixin)
    assert not isinstance(prof.key_averages()[0], FunctionEvent) and not isinstance("name", FunctionEvent)


@pytest.mark.parametrize("change", ["append_kernel", "append_cpu_child", "set_cpu_parent"])
def test_a_recorded_event_cannot_be_changed(op, change):
    with profile() as prof:
        op("aten::mul")
    recorded = prof.events()[0]
    with pytest.raises(TypeError, match=rf"^{change}\(\): a recorded event cannot be changed"):
        getattr(recorded, change)(recorded)


def test_kernels_children_and_parents_belong_to_host_events():
    host, device = event(0, 4), event(1, 2, device_type=DeviceType.CUDA)
    host.append_kernel("k", 0, 1.5)
    assert host.kernels == [Kernel("k", 0, 1.5)]
    for call, text in (
        (lambda: device.append_kernel("k", 0, 1), "Expected device_type to be CPU"),
        (lambda: device.append_cpu_child(host), "Expected device_type to be CPU"),
        (lambda: device.set_cpu_parent(host), "Expected device_type to be CPU"),
        (lambda: host.append_cpu_child(device), "Expected child device_type to be CPU"),
        (lambda: host.set_cpu_parent(device), "Expected parent device_type to be CPU"),
        (lambda: host.append_cpu_child(3), "Expected child to be a FunctionEvent"),
        (lambda: host.set_cpu_parent(None), "Expected parent to be a FunctionEvent"),
    ):
        with pytest.raises(AssertionError, match=f"^{text}$"):
            call()


def test_events_lie_inside_others_of_their_thread_only_as_a_whole():
    threads = {1: [(0, 1), (1, 2)], 0: [(0, 2), (1, 2), (1, 3)]}
    events = EventList()
    for thread, ranges in threads.items():
        for start, end in ranges:
            events.append(event(start, end, "", id=len(events) + 1, thread=thread, node_id=0))
    events._populate_cpu_children()
    # [1, 3] sticks out of [0, 2]; [1, 2] lies in it.
    assert [ids(one.cpu_children) for one in events] == [[], [], [], [], [4]]
    assert events[3].cpu_parent is events[4] and events[0].cpu_parent is None


def test_a_tree_is_built_once():
    events = tree(event(0, 4), event(1, 2, "g"))
    with pytest.raises(AssertionError, match="^There is already a CPU parent event for g$"):
        events._build_tree()


def test_a_call_seen_twice_is_one_event():
    outer, inner, innermost = event(0, 9, id=1), event(1, 8, id=2), event(2, 3, "g", id=3)
    inner.append_kernel("k", 0, 1)
    events = tree(outer, inner, innermost)
    assert ids(events) == [1, 3] and ids(outer.cpu_children) == [3]
    assert innermost.cpu_parent is outer and outer.kernels == [Kernel("k", 0, 1)]


def test_backward_events_have_the_stack_of_their_forward_call():
    forward = event(0, 1, sequence_nr=5, stack=["a:1:f"])
    node = event(2, 6, "FBackward", thread=2, sequence_nr=5, fwd_thread=1, scope=1)
    inside = event(3, 4, "g", thread=2)
    unknown = event(7, 8, "GBackward", thread=2, sequence_nr=6, fwd_thread=1, scope=1, stack=["lost"])
    tree(forward, node, inside, unknown)
    assert (node.stack, inside.stack, unknown.stack) == (["a:1:f"], ["a:1:f"], [])
    with pytest.raises(AssertionError, match="^Expected fwd_thread to be set for backward parent$"):
        tree(event(0, 1, scope=1))


def test_averages_need_a_tree():
    with pytest.raises(AssertionError, match="^Expected tree to be built before calling key_averages$"):
        EventList([event(0, 1)]).key_averages()


def test_averages_and_tables_of_hand_made_events():
    events = tree(event(0, 10, "outer", id=1), event(1, 4, id=2), event(5, 6, id=3), event(20, 22, id=4))
    outer, inner = events.key_averages()
    assert (outer.key, outer.count, outer.cpu_time_total, outer.self_cpu_time_total) == ("outer", 1, 10, 6)
    assert (inner.key, inner.count, inner.cpu_time_total, inner.cpu_time) == ("f", 3, 6, 2)
    assert outer.cpu_parent is None and inner.cpu_parent is events[0] and outer.cpu_children is events[0].cpu_children
    assert events.self_cpu_time_total == events.key_averages().self_cpu_time_total == 12
    assert "Total events: 4" in events.table() and "Total keys: 2" in events.key_averages().table()
    top_level = events.key_averages().table(top_level_events_only=True)
    assert "outer" in top_level and " f " not in top_level
    assert [row["name"] for row in events.key_averages()._build_rows()] == ["outer", "f"]
    assert "outer" in events._repr_html_() and events.to_csv().count("\n") == 5


def test_a_call_inside_one_of_the_same_name_is_not_more_than_the_whole():
    events = tree(event(0, 10, id=1), event(1, 9, id=2), event(9, 10, "g", id=3))
    assert "100.00%" in events.key_averages().table() and events.key_averages()[0].cpu_time_total == 18


def test_a_row_takes_its_identity_from_a_hand_made_event():
    events = tree(event(0, 10, "outer"), event(1, 4))
    row = FunctionEventAvg()
    row.add(events[1]).add(events[1])
    assert (row.key, row.count, row.cpu_time_total) == ("f", 2, 6) and row.cpu_parent is events[0]
    row.cpu_parent, row.cpu_children = None, [events[0]]
    assert row.cpu_parent is None and row.cpu_children == [events[0]]


def test_rows_of_a_list_of_recorded_events_keep_their_parents(op):
    from mindtorch_v2.profiler import record_function

    with profile() as prof, record_function("outer"):
        op("aten::mul")
    rows = EventList._of(list(prof.events()), prof.events()._context, None, tree_built=True).key_averages()
    assert rows[1].cpu_parent.name == "outer" and [child.name for child in rows[0].cpu_children] == ["aten::mul"]


def test_recorded_and_hand_made_events_may_be_in_one_list(op):
    with profile() as prof:
        op("aten::mul")
    mixed = tree(*prof.events(), event(0, 1, "by hand"))
    assert [row.key for row in mixed.key_averages()] == ["aten::mul", "by hand"]


def test_values_that_are_not_shapes_are_refused():
    with pytest.raises(ValueError, match="expected a list of lists of sizes, got 'x'"):
        EventList([event(0, 1, input_shapes="x")]).table()


def test_hand_made_events_are_exported(tmp_path):
    launching = event(0, 4, trace_name='a "name"', use_device="cuda", stack=["inner:2:g", "outer:1:f"])
    launching.append_kernel("k", 0, 1)
    remote = event(1, 2, trace_name="remote", is_remote=True, node_id=3)
    events = EventList([launching, remote, event(0, 1)], use_device="npu")
    events.export_chrome_trace(tmp_path / "list.json")
    first, arrow, second = json.loads((tmp_path / "list.json").read_text())
    assert (first["name"], first["ph"], first["ts"], first["dur"], first["tid"]) == ('a "name"', "X", 0, 4, 1)
    assert (arrow["ph"], arrow["cat"], arrow["id"]) == ("s", "cpu_to_npu", 0) and second["tid"] == " node_id:3, thread_id:1 "
    events.export_stacks(tmp_path / "stacks.txt", "self_cpu_time_total")
    assert (tmp_path / "stacks.txt").read_text() == "outer:1:f;inner:2:g 4\n"


def test_hand_made_events_can_be_copied_and_pickled():
    events = tree(event(0, 10, "outer", id=1), event(1, 4, id=2))
    for twin in (copy.deepcopy(events), pickle.loads(pickle.dumps(events))):
        assert [repr(one) for one in twin] == [repr(one) for one in events] and twin[1].cpu_parent is twin[0]


def test_deprecated_attributes_of_a_hand_made_event_warn_at_the_users_line():
    made = event(0, 1, metadata_json="{}")
    for name in ("cuda_time", "cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage", "metadata_json"):
        with pytest.warns(FutureWarning, match=f"^`{name}` is deprecated") as caught:
            getattr(made, name)
        assert caught[0].filename == __file__


def test_rows_that_refer_to_themselves_by_way_of_an_event_are_collected():
    class Watched(FunctionEvent):
        pass

    made = Watched(0, "f", 1, 0, 1)
    row = FunctionEventAvg().add(made)
    made.row, row.cpu_parent = row, made
    watch = weakref.ref(made)
    del made, row
    gc.collect()
    assert watch() is None
