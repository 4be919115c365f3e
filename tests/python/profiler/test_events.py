"""Events: torch's attributes, and the mapping."""

import json
import weakref
from itertools import pairwise

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import profile, record_function
from profiles import record_ops

ATTRIBUTES_OF_EVENTS = """id node_id name overload_name trace_name time_range thread fwd_thread kernels count cpu_children cpu_parent
input_shapes concrete_inputs kwinputs stack scope use_device cpu_memory_usage device_memory_usage is_async is_remote sequence_nr
device_type device_index device_resource_id is_legacy flops is_user_annotation is_python_function activity_type self_cpu_percent
total_cpu_percent total_device_percent flow_id flow_type flow_start external_id linked_correlation_id event_metadata
structured_input_shapes structured_input_strides input_dtypes python_id python_parent_id python_module_id key cpu_time_total
self_cpu_time_total device_time_total self_device_time_total self_cpu_memory_usage self_device_memory_usage cpu_time device_time
cpu_time_str device_time_str cpu_time_total_str device_time_total_str self_cpu_time_total_str self_device_time_total_str""".split()


def test_an_event_has_every_attribute_of_torchs(prof):
    event = prof.events()[1]
    missing = [name for name in ATTRIBUTES_OF_EVENTS if not hasattr(event, name)]
    assert missing == []
    assert event.activity_type == "cpu_op" and event.scope == 0 and event.sequence_nr == -1
    assert event.input_shapes == [[2, 3], [2, 3]] == event.structured_input_shapes
    assert event.cpu_parent.name == "outer" and event.cpu_parent.cpu_children[0] == event
    assert event.cpu_parent.scope == 7 and event.cpu_parent.is_user_annotation
    assert event.id == event.external_id and event.kernels == [] and event.count == 1


# Rule: events.self_time
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


# Rule: events.mapping


def test_an_event_can_be_read_as_a_mapping():
    with profile() as prof:
        torch.ones((2, 2)) * 2
    event = prof.events()[0]
    required = ["name", "kind", "device_type", "step", "start_ns", "end_ns", "duration_ns", "thread_id"]
    assert list(event) == [*required, "correlation_id", "runtime_name", "runtime_tid"]
    assert event["kind"] == "op" and event["device_type"] == "CPU" and event["step"] == 0
    assert event["end_ns"] - event["start_ns"] == event["duration_ns"] >= 0
    assert dict(event) == {key: event[key] for key in event}
    with pytest.raises(KeyError):
        event["no such key"]


# Rule: flags.off


def test_keys_of_side_data_exist_only_when_their_flag_is_on():
    optional = {"input_shapes", "stack", "cpu_memory_allocated_before", "npu_memory_allocated_before"}
    for flag, key in (("record_shapes", "input_shapes"), ("with_stack", "stack"), ("profile_memory", "cpu_memory_allocated_before")):
        with profile(**{flag: True}) as prof:
            torch.ones((2, 2)) * 2
        for event in prof.events():
            assert (key in event) == (event["kind"] == "op")
            assert not (optional - {key}) & set(event)
    with profile() as prof:
        torch.ones((2, 2)) * 2
    assert not [event for event in prof.events() if optional & set(event)]


# Rule: events.attributes


def test_an_event_has_torchs_attributes_and_is_a_mapping(op):
    event = record_ops(op).events()[0]
    assert (event.name, event["name"]) == ("aten::mul", "aten::mul")
    assert event.time_range.elapsed_us() == pytest.approx(event["duration_ns"] / 1000)


def test_an_event_cannot_be_changed(op):
    event = record_ops(op).events()[0]
    with pytest.raises(TypeError):
        event["name"] = "other"
    with pytest.raises(AttributeError):
        event.name = "other"


def test_a_stack_that_was_not_recorded_is_not_in_the_event(op):
    assert "stack" not in record_ops(op).events()[0]


def test_events_are_made_only_when_looked_at(op):
    events = record_ops(op, count=1000).events()
    assert len(events) == 1000
    assert len(events[10:20]) == 10 and len(events[::100]) == 10
    assert events._items is None  # nothing above has made a list of objects
    assert events[-1] == events[999]


def test_an_event_is_one_object_in_its_list(prof_of_nested_ops):
    events = prof_of_nested_ops.events()
    assert prof_of_nested_ops.events() is events
    assert events[0] is events[0] is events[0:2][0] is next(iter(events)) and events[-1] is events[len(events) - 1]
    for number, event in enumerate(events):
        event.number = number
    assert [event.number for event in events] == list(range(len(events)))
    assert len({id(event) for event in events}) == len(events)
    inner = next(event for event in events if event.cpu_parent is not None)
    assert inner.cpu_parent is events[inner.cpu_parent.number]
    assert inner in inner.cpu_parent.cpu_children and any(child is inner for child in inner.cpu_parent.cpu_children)
    assert events._items is None
    assert [event.number for event in events.data] == list(range(len(events)))  # a real list has the same objects
    assert inner.cpu_parent is events[inner.cpu_parent.number]
    assert weakref.ref(inner)() is inner


# Rule: events.identity
def test_objects_that_the_program_does_not_hold_are_not_kept_for_good(op):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    events = record_ops(op, count=600_000).events()
    for position in (3, 299_999, 599_999):
        events[position].note = position
    held = events[77]
    before = resident()
    assert sum(event.name == "aten::mul" for event in events) == len(events)
    assert resident() - before < 100 << 20  # 600,000 objects take 130 MB
    assert [events[position].note for position in (3, 299_999, 599_999)] == [3, 299_999, 599_999]
    assert events[77] is held
    everything = list(events)  # as many as the program wants to hold
    assert all(event is events[position] for position, event in enumerate(everything))


def test_objects_of_events_live_as_long_as_their_list(prof_of_nested_ops):
    class Probe:
        pass

    prof_of_nested_ops.events()[0].probe = probe = Probe()
    last = prof_of_nested_ops.events()[-1]
    probe = weakref.ref(probe)
    assert probe() is not None
    prof_of_nested_ops.start()
    prof_of_nested_ops.stop()
    assert len(prof_of_nested_ops.events()) == 0 and probe() is None
    assert last.cpu_parent is None or last.cpu_parent.name


@pytest.fixture
def prof_of_nested_ops(op):
    with profile() as prof:
        for _ in range(3):
            with record_function("outer"):
                op("aten::mul")
    return prof


# Rule: events.order


def test_of_two_events_that_start_together_the_longer_comes_first(op):
    with profile() as prof:
        for _ in range(200):
            with record_function("outer"):
                op("aten::inner")
    events = list(prof.events())
    assert all(a.start_ns < b.start_ns or a.end_ns >= b.end_ns for a, b in pairwise(events))


# Rule: events.ids


def test_ops_have_unique_growing_correlation_ids_and_scopes_have_none(op, trace_of):
    with profile() as prof, record_function("scope"):
        for _ in range(5):
            op("aten::mul")
    scope, *ops = prof.events()
    numbers = [event["correlation_id"] for event in ops]
    assert numbers == sorted(set(numbers)) and len(numbers) == 5
    assert not {"correlation_id", "runtime_name", "runtime_tid"} & set(scope)
    for event in ops:
        assert event["runtime_name"] == "dispatch_kernel" and event["runtime_tid"] == event["thread_id"]
    # torch's name of it in a trace, where tools look for it
    assert [event["args"]["External id"] for event in trace_of(prof)["traceEvents"] if event.get("cat") == "cpu_op"] == numbers
