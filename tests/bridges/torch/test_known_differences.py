"""Differences from torch.profiler that docs/pytorch.md names. Each test says what torch does and what ours does."""

import copy
import json

import mindtorch_v2.profiler
import numpy
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

SIDES = {"torch": torch.profiler, "ours": mindtorch_v2.profiler}


def both(ask):
    """What `ask` answers for torch's module and for ours."""
    return [ask(side) for side in SIDES.values()]


def record(module, program=lambda: torch.ones(2) * 2, **options):
    with module.profile(activities=[module.ProfilerActivity.CPU], **options) as prof:
        program()
    return prof


def error_of(call):
    try:
        call()
    except Exception as error:
        return type(error)
    return None


@pytest.fixture(autouse=True)
def bridge(bridged_torch):
    return bridged_torch


def test_a_table_ends_with_one_line_more():
    theirs, ours = both(lambda module: record(module).key_averages().table().splitlines())
    assert len(ours) == len(theirs) + 1 and theirs[-1].startswith("Self CPU time total")
    assert ours[-1].startswith("Total keys: ") and ours[-1].endswith("Lost: 0 events")


def test_stacks_need_no_other_option():
    theirs, ours = both(lambda module: [event.stack for event in record(module, with_stack=True).events() if event.name == "aten::mul"])
    assert theirs == [[]] and len(ours[0]) > 2


def test_frames_of_rows_have_the_order_file_line_function():
    prof = record(mindtorch_v2.profiler, with_stack=True)
    (row,) = (row for row in prof.key_averages(group_by_stack_n=1) if row.key == "aten::mul")
    (event,) = (event for event in prof.events() if event.name == "aten::mul")
    assert row.stack[0].endswith(":<lambda>") and event.stack[0].endswith(": <lambda>")


def nested(module):
    with module.profile(activities=[module.ProfilerActivity.CPU]) as outer:
        torch.ones(2)
        error = error_of(lambda: record(module))
    return error, len(outer.events())


def test_the_inner_one_of_two_profiles_is_empty_and_the_outer_one_goes_on():
    (their_error, their_events), (our_error, our_events) = both(nested)
    assert (their_error, their_events) == (None, 0)
    assert our_error is None and our_events > 0


def test_a_second_stop_does_not_call_the_handler_again_nor_lose_events():
    def twice(module):
        ready = []
        prof = record(module, on_trace_ready=lambda prof: ready.append(1))
        prof.stop()
        return len(ready), len(prof.events()) > 0

    assert both(twice) == [(2, False), (1, True)]


def test_an_export_can_be_repeated(tmp_path):
    def again(module):
        prof = record(module)
        prof.export_chrome_trace(str(tmp_path / "trace.json"))
        return error_of(lambda: prof.export_chrome_trace(str(tmp_path / "trace.json")))

    assert both(again) == [RuntimeError, None]


def test_lists_are_made_when_they_are_looked_at():
    theirs, ours = both(lambda module: record(module).events())
    assert isinstance(theirs, list) and type(theirs[:1]) is list
    assert not isinstance(ours, list) and type(ours[:1]) is type(ours)


def test_an_event_is_a_mapping():
    theirs, ours = both(lambda module: record(module).events())
    assert numpy.array(theirs).ndim == 1 and numpy.array(ours).ndim == 2
    assert dict(ours[0])["name"] == ours[0].name and error_of(lambda: dict(theirs[0])) is TypeError


def rename(event):
    event.name = "other"


def test_a_recorded_event_is_not_changed_but_its_copy_is():
    theirs, ours = both(lambda module: record(module).events()[0])
    assert error_of(lambda: rename(theirs)) is None
    assert error_of(lambda: rename(ours)) is AttributeError
    made = copy.copy(ours)
    rename(made)
    assert made.name == "other" and ours.name == "aten::ones"


def test_enumerations_of_torch_are_equal_to_ours_at_their_right_only():
    event = record(mindtorch_v2.profiler).events()[0]
    assert event.device_type == torch.autograd.DeviceType.CPU
    assert event.device_type not in {torch.autograd.DeviceType.CPU} and event.device_type not in [torch.autograd.DeviceType.CPU]
    assert event.device_type == "CPU" and event.device_type == mindtorch_v2.profiler.ProfilerActivity.CPU.name


def test_traces_have_more_arguments(tmp_path):
    def arguments(module):
        record(module, profile_memory=True).export_chrome_trace(str(tmp_path / "trace.json"))
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        return {name for event in events if event["name"] == "aten::ones" for name in event["args"]}

    theirs, ours = both(arguments)
    assert theirs <= ours and {"device_type", "cpu_memory_allocated_before"} <= ours - theirs


def test_calls_of_a_recursive_scope_that_runs_nothing_else_are_one_event():
    def count(module):
        @module.record_function("again")
        def again(depth):
            if depth:
                again(depth - 1)

        return sum(event.name == "again" for event in record(module, lambda: again(3)).events())

    assert both(count) == [4, 1]


def test_an_op_that_fails_and_the_derivative_of_a_convolution_have_flops():
    def program():
        with pytest.raises(RuntimeError):
            torch.ones(3) @ torch.ones(7)
        layer = torch.nn.Conv2d(2, 3, 3)
        layer(torch.ones(1, 2, 8, 8)).sum().backward()

    def flops(module):
        rows = record(module, program, with_flops=True).key_averages()
        return {row.key: row.flops > 0 for row in rows if row.key in ("aten::matmul", "aten::dot", "aten::convolution_backward")}

    theirs, ours = both(flops)
    assert not any(theirs.values())
    assert ours["aten::convolution_backward"] and (ours["aten::matmul"] or ours["aten::dot"])


def test_a_finished_profile_is_not_copied():
    theirs, ours = both(record)
    assert error_of(lambda: copy.copy(theirs)) is None and error_of(lambda: copy.copy(ours)) is TypeError


def test_internals_of_torch_are_not_modules_of_ours():
    import importlib

    for name in ("_utils", "_memory_profiler", "_pattern_matcher"):
        assert importlib.import_module(f"torch.profiler.{name}")
        assert error_of(lambda name=name: importlib.import_module(f"mindtorch_v2.profiler.{name}")) is ModuleNotFoundError
