"""The founding requirements, a test a sentence (F1 to F24 of the behaviour that the project began with)."""

import inspect
import json
import threading
import tracemalloc

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import ProfilerActivity, dispatch_op_enter, dispatch_op_exit, profile, record_function, schedule


def names(prof, kind="op"):
    return [event["name"] for event in prof.events() if event["kind"] == kind]


def train(steps=1):
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        layer(torch.ones((4, 2))).sum().backward()
        optimizer.step()


# F1


def test_the_profiler_is_reached_as_torch_reaches_it():
    for name in ("profile", "record_function", "schedule", "ProfilerActivity", "ProfilerAction"):
        assert hasattr(torch.profiler, name)


def test_ops_of_forward_backward_and_optimizer_are_recorded():
    with profile() as prof:
        train()
    recorded = " ".join(event["name"] for event in prof.events())
    assert "addmm" in recorded or "linear" in recorded
    assert "Backward" in recorded
    assert "Optimizer.step#SGD.step" in recorded


# F2


def test_the_profiler_is_a_python_source_module_that_knows_no_mindspore():
    import mindtorch_v2.profiler.profiler as module

    assert "mindspore" not in inspect.getsource(module)


def test_nothing_refers_to_mindspore(project_root):
    for folder in ("python", "mindtorch"):
        for path in (project_root / folder).rglob("*"):
            if path.suffix in (".py", ".cpp", ".h"):
                assert "mindspore" not in path.read_text().lower(), path


# F3


def test_events_of_each_thread_carry_its_id():
    seen = []

    def work():
        seen.append(threading.get_native_id())
        with record_function("on a thread"):
            torch.ones((2, 2)) + 1

    with profile() as prof:
        with record_function("here"):
            pass
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    thread_of = {event["name"]: event["thread_id"] for event in prof.events() if event["kind"] == "scope"}
    assert thread_of == {"here": threading.get_native_id(), "on a thread": seen[0]}


def test_without_a_profiler_a_hooked_op_allocates_nothing(op):
    op("aten::mul", [2, 2])
    tracemalloc.start()
    try:
        tensors, keywords = (), {}
        dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", tensors, keywords))
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", tensors, keywords))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 256  # the loop's own counter


def test_each_op_is_recorded_once_where_the_dispatcher_runs_it():
    x = torch.ones((2, 2), requires_grad=True)
    with profile() as prof:
        x * x
    assert [name.split("::")[-1] for name in names(prof)] == ["mul"]


# F4


def test_dispatchers_written_in_python_have_enter_and_exit_hooks(op):
    from mindtorch_v2.profiler import is_profiler_enabled

    assert not is_profiler_enabled()
    with profile() as prof:
        assert is_profiler_enabled()
        op("foreign::mul", [2, 3])
    assert names(prof) == ["foreign::mul"]


# F5


def test_the_block_starts_and_stops_collection_and_events_work_after_it():
    before = torch.ones((2, 2))
    with profile() as prof:
        before * before
    before + before
    assert any("mul" in name for name in names(prof))
    assert not any("add" in name for name in names(prof))


def test_step_advances_the_step_number():
    with profile() as prof:
        assert prof.step_num == 0
        prof.step()
        assert prof.step_num == 1


# F6


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


def test_ops_before_the_first_step_have_step_0_and_after_it_step_1():
    x = torch.ones((2, 2))
    with profile() as prof:
        x * x
        prof.step()
        x + x
    steps = {event["name"].split("::")[-1]: event["step"] for event in prof.events() if event["kind"] == "op"}
    assert steps["mul"] == 0 and steps["add"] == 1


# F7


def test_a_product_and_its_sum_and_their_backward_are_named_after_the_ops():
    with profile() as prof:
        x = torch.ones((2, 2), requires_grad=True)
        (x * x).sum().backward()
    recorded = names(prof)
    assert any("mul" in name for name in recorded) and any("sum" in name for name in recorded)
    assert any("MulBackward0" in name for name in recorded) and any("SumBackward0" in name for name in recorded)
    assert x.grad.tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("create", ["ones", "zeros", "rand", "randn", "empty"])
def test_creation_functions_take_requires_grad(create):
    assert getattr(torch, create)((2, 2), requires_grad=True).requires_grad
    assert torch.tensor([1.0], requires_grad=True).requires_grad and torch.full((2,), 3.0, requires_grad=True).requires_grad


# F8


def test_scopes_nest_and_are_listed_outer_before_inner():
    with profile() as prof, record_function("outer"), record_function("inner"):
        pass
    assert names(prof, "scope") == ["outer", "inner"]


def test_a_scope_is_closed_by_an_exception():
    with profile() as prof:
        with pytest.raises(ZeroDivisionError), record_function("fails"):
            raise ZeroDivisionError
        with record_function("after"):
            pass
    fails, after = [event for event in prof.events() if event["kind"] == "scope"]
    assert fails["end_ns"] <= after["start_ns"]


# F9


def test_the_ops_of_an_optimizer_appear():
    with profile() as prof:
        train()
    step = next(event for event in prof.events() if event["name"] == "Optimizer.step#SGD.step")
    assert [child for child in step.cpu_children if child["kind"] == "op"]


# F10: on_reference_npu.py


def test_an_npu_that_is_not_there_is_not_available(run_program):
    text = "import mindtorch_v2 as torch; print(torch.npu.is_available())"
    assert run_program(text, MINDTORCH_NPU="").strip() == "False"


# F11


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


# F12


def test_the_table_is_deterministic_and_has_its_words():
    with profile() as prof:
        train()
    table = prof.key_averages().table(sort_by="self_cpu_time_total")
    assert all(word in table for word in ("Name", "Count", "Total", "# of Calls"))
    assert prof.key_averages().table(sort_by="self_cpu_time_total") == table


# F13


def test_shapes_of_positional_and_keyword_tensors_and_lists_are_kept():
    x = torch.ones((2, 3))
    with profile(record_shapes=True) as prof:
        x * x
        torch.cat([x, x], dim=0)
    shapes = {event["name"].split("::")[-1]: event["input_shapes"] for event in prof.events() if event["kind"] == "op"}
    assert shapes["mul"][:2] == [[2, 3], [2, 3]]
    assert shapes["cat"][0] == [[2, 3], [2, 3]]
    json.dumps(shapes)


def test_shapes_of_tensors_that_a_dispatcher_passes_by_keyword_are_kept():
    x, out = torch.ones((2, 3)), torch.ones((4, 3))
    with profile(record_shapes=True) as prof:
        dispatch_op_exit(dispatch_op_enter("foreign::cat", "cpu", ([x, x],), {"dim": 0, "out": out}))
    assert prof.events()[0]["input_shapes"] == [[[2, 3], [2, 3]], [], [4, 3]]


def test_every_op_has_input_shapes_when_shapes_are_recorded():
    with profile(record_shapes=True) as prof:
        train()
    assert all("input_shapes" in event for event in prof.events() if event["kind"] == "op")


# F14


def test_stacks_are_lists_of_file_line_function():
    with profile(with_stack=True) as prof, record_function("scope"):
        torch.ones((2, 2)) * 2
    for event in prof.events():
        assert event["stack"], event["name"]
        for frame in event["stack"]:
            file, line, function = frame.rsplit(":", 2)
            assert line.isdigit() and function
    mul = next(event for event in prof.events() if "mul" in event["name"])
    assert mul["stack"][0].startswith(__file__) and mul["stack"][0].endswith("test_stacks_are_lists_of_file_line_function")


def test_profiler_internals_are_left_out_of_stacks():
    import os

    package = os.path.dirname(torch.__file__)
    with profile(with_stack=True) as prof:
        train()
    frames = {frame for event in prof.events() if "stack" in event for frame in event["stack"]}
    assert frames and not [frame for frame in frames if frame.startswith(os.path.join(package, "profiler"))]


# F15


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


# F16


def test_the_trace_carries_shapes_and_stacks_in_args(trace_of):
    with profile(record_shapes=True, with_stack=True) as prof:
        torch.ones((2, 2)) * 2
    mul = next(event for event in trace_of(prof)["traceEvents"] if event["name"].endswith("mul"))
    assert mul["args"]["input_shapes"][0] == [2, 2] and mul["args"]["stack"]


def test_without_flags_the_trace_has_neither_shapes_nor_stacks(trace_of):
    with profile() as prof:
        torch.ones((2, 2)) * 2
    for event in trace_of(prof)["traceEvents"]:
        assert not {"input_shapes", "stack", "Input Dims", "cpu_memory_allocated_before"} & set(event.get("args", {}))


# F17, F18 on an NPU: on_reference_npu.py


def test_cpu_events_carry_their_memory():
    with profile(profile_memory=True) as prof:
        kept = torch.ones((256, 256))
        kept * 2
    for event in prof.events():
        if event["kind"] == "op":
            before, after, delta = (event[f"cpu_memory_allocated_{key}"] for key in ("before", "after", "delta"))
            assert after - before == delta
    ones = next(event for event in prof.events() if event["name"].endswith("ones"))
    assert ones["cpu_memory_allocated_delta"] >= 256 * 256 * 4


def test_the_trace_carries_memory_in_args(trace_of):
    with profile(profile_memory=True) as prof:
        torch.ones((2, 2)) * 2
    mul = next(event for event in trace_of(prof)["traceEvents"] if event["name"].endswith("mul"))
    args = mul["args"]
    assert args["device_type"] == "CPU"
    assert args["cpu_memory_allocated_after"] - args["cpu_memory_allocated_before"] == args["cpu_memory_allocated_delta"]


def test_with_a_schedule_memory_exists_only_in_recording_phases():
    x = torch.ones((64, 64))
    with profile(profile_memory=True, schedule=schedule(wait=1, warmup=1, active=1)) as prof:
        for _ in range(3):
            x * x
            prof.step()
    with_memory = [event for event in prof.events() if "cpu_memory_allocated_before" in event]
    assert with_memory and {event["step"] for event in with_memory} == {2}


# F19


def test_the_chrome_trace_is_json_made_from_the_recorded_events(trace_of):
    with profile() as prof:
        train()
    written = [event["name"] for event in trace_of(prof)["traceEvents"] if event["ph"] == "X"]
    assert written and {event["name"] for event in prof.events()} <= set(written)


# F20

METRICS = ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]


def test_the_metrics_of_stacks_are_torchs():
    with profile() as prof:
        pass
    assert prof.key_averages().supported_export_stacks_metrics() == METRICS


def test_stacks_refuse_another_metric(tmp_path):
    with profile(with_stack=True) as prof:
        torch.ones((2, 2)) * 2
    with pytest.raises(ValueError) as refused:
        prof.key_averages(group_by_stack_n=5).export_stacks(tmp_path / "stacks.txt", "count")
    assert str(refused.value) == f"metric should be one of: {METRICS}"
    assert not (tmp_path / "stacks.txt").exists()


def test_stacks_are_lines_of_frames_and_an_integer(tmp_path):
    with profile(with_stack=True) as prof:
        torch.ones((2, 2)) * 2
    prof.key_averages(group_by_stack_n=5).export_stacks(tmp_path / "stacks.txt", "self_cpu_time_total")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    assert lines
    for line in lines:
        frames, weight = line.rsplit(" ", 1)
        assert int(weight) > 0 and " " not in frames
    assert lines[0].rsplit(" ", 1)[0].endswith("test_stacks_are_lines_of_frames_and_an_integer")


def test_rows_have_the_fields_of_devices():
    with profile() as prof:
        torch.ones((2, 2)) * 2
    for row in prof.key_averages():
        assert (row.self_device_time_total, row.device_time_total, row.device_time) == (0, 0, 0)


# F21


def test_acc_events_is_an_argument_and_an_attribute():
    assert profile().acc_events is False
    assert profile(acc_events=True).acc_events is True


# F22


def test_add_metadata_takes_strings_only():
    with profile() as prof, pytest.raises(AttributeError):
        prof.add_metadata("key", 3)


def test_all_metadata_is_in_the_trace(trace_of):
    prof = profile()
    prof.preset_metadata_json("before start", "[1, 2]")
    with prof:
        prof.add_metadata("text", 'with "quotes" and \\')
        prof.add_metadata_json("json", '{"a": 1}')
        prof.add_metadata_json("broken", "notjson")
        with record_function("scope"):
            pass
    trace = trace_of(prof)
    assert trace["before start"] == [1, 2]
    assert trace["text"] == 'with "quotes" and \\'
    assert trace["json"] == {"a": 1}
    assert trace["broken"] == "notjson"


# F23


def test_collection_of_the_cpu_can_be_toggled():
    x = torch.ones((2, 2))
    with profile() as prof:
        x + x
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        x * x
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        x + x
    recorded = [name.split("::")[-1] for name in names(prof)]
    assert recorded.count("add") == 2 and "mul" not in recorded


# F24


def test_a_memory_timeline_without_the_flags_is_refused(tmp_path):
    with profile() as prof:
        pass
    with pytest.raises(ValueError) as refused:
        prof.export_memory_timeline(tmp_path / "timeline.json")
    assert str(refused.value) == "record_shapes=True, profile_memory=True, with_stack=True required for memory profiling."


def test_with_the_flags_there_is_a_real_memory_timeline(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        kept = [torch.ones((256, 256)) for _ in range(4)]
    prof.export_memory_timeline(tmp_path / "timeline.json", device="cpu")
    times, sizes = json.loads((tmp_path / "timeline.json").read_text())
    assert len(times) == len(sizes) > 0 and times == sorted(times)
    assert max(sum(row) for row in sizes) >= len(kept) * 256 * 256 * 4
