"""mindtorch_v2.autograd.profiler: torch's older names."""

import sys
import time
import warnings
from types import SimpleNamespace

import pytest
from mindtorch_v2.autograd import profiler
from mindtorch_v2.profiler import profile as new_profile


def test_the_older_profile_records_its_block(op):
    with profiler.profile(record_shapes=True) as prof:
        op("aten::mul", [2, 2])
    assert [event.name for event in prof.function_events] == ["aten::mul"]
    assert prof.key_averages(group_by_input_shape=True)[0].input_shapes == [[2, 2]]
    assert prof.total_average().count == 1 and prof.self_cpu_time_total > 0
    assert "aten::mul" in prof.table() and str(prof) == prof.table()


def test_an_unfinished_profile_says_so():
    prof = profiler.profile()
    assert repr(prof) == str(prof) == "<unfinished torch.autograd.profile>"
    assert len(prof.function_events) == len(prof.key_averages()) == prof.total_average().count == prof.self_cpu_time_total == 0
    assert prof.table() == "" and prof.kineto_results is None


def test_a_disabled_profile_does_nothing(op):
    with profiler.profile(enabled=False) as prof:
        op("aten::mul")
    assert prof is None


def test_a_block_cannot_be_entered_twice():
    prof = profiler.profile()
    with prof:
        pass
    with pytest.raises(RuntimeError, match="^Profiler context manager is not reentrant$"), prof:
        pass


def test_wrong_devices_are_refused_as_torch_refuses_them():
    with pytest.warns(UserWarning, match="^The tpu is not a valid device option.$"):
        assert profiler.profile(use_device="tpu").use_device is None
    with pytest.warns(UserWarning, match="^XPU is not available, disabling XPU profiling$"):
        profiler.profile(use_device="xpu")
    with pytest.raises(AssertionError, match="Legacy MTIA profiling is not supported"):
        profiler.profile(use_device="mtia")
    with pytest.raises(AssertionError, match=r"^Device-only events supported only with Kineto \(use_kineto=True\)$"):
        profiler.profile(use_cpu=False)
    with pytest.raises(AssertionError, match="^No activities specified for the profiler$"):
        profiler.profile(use_cpu=False, use_kineto=True)
    with pytest.warns(FutureWarning, match="^The attribute `use_cuda` will be deprecated soon"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "CUDA is not available")
        profiler.profile(use_cuda=True)


def test_a_profile_can_be_read_through_its_older_face(op, tmp_path):
    with new_profile(with_stack=True) as prof:
        op("aten::mul")
    face = prof.profiler
    assert isinstance(face, profiler.profile) and face.function_events[0] == prof.events()[0]
    assert face.trace_id == prof.get_trace_id() and prof._stats().number_of_events == 1
    face.kineto_results.save(tmp_path / "trace.json")
    face.export_chrome_trace(tmp_path / "again.json", metadata={"key": "3"})
    face.export_stacks(tmp_path / "stacks.txt")
    assert '"key":3' in (tmp_path / "again.json").read_text().replace(" ", "") and (tmp_path / "stacks.txt").stat().st_size > 0


@pytest.mark.parametrize("marker", [profiler.emit_nvtx, profiler.emit_itt])
def test_without_torch_markers_of_other_tools_raise_a_clear_error_unless_disabled(marker, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.autograd.profiler", None)
    with pytest.raises(RuntimeError, match="is not supported: mindtorch_v2 emits no"), marker():
        pass
    with marker(enabled=False):
        pass


def test_files_of_nvprof_are_refused():
    with pytest.raises(RuntimeError, match="'x.sql' cannot be read"):
        profiler.load_nvprof("x.sql")


def test_keys_are_unique():
    unique = profiler.EnforceUnique()
    unique.see(1, "a")
    with pytest.raises(RuntimeError, match=r"^duplicate key: \(1, 'a'\)$"):
        unique.see(1, "a")


def test_steps_of_several_requesters_are_counted_once(monkeypatch):
    tracker = profiler.KinetoStepTracker
    monkeypatch.setattr(tracker, "_step_dict", {})
    monkeypatch.setattr(tracker, "_current_step", 0)
    tracker.init_step_count("a")
    tracker.init_step_count("b")
    assert [tracker.increment_step("a"), tracker.increment_step("b"), tracker.increment_step("b")] == [1, 1, 2]
    assert tracker.current_step() == 2 and tracker.erase_step_count("a") and not tracker.erase_step_count("a")


def test_a_profile_says_what_it_was_asked_for():
    prof = profiler.profile(with_flops=True, profile_memory=True)
    config = prof.config()
    assert (config.state, config.trace_id) == (profiler.ProfilerState.KINETO, "") and config.state.value == 6
    assert (config.report_input_shapes, config.profile_memory, config.with_stack, config.with_flops) == (True, True, False, True)
    assert config.with_modules is False and config.experimental_config.verbose is False


def test_trace_ids_are_random_or_the_callbacks():
    prof = profiler.profile()
    first, second = prof.default_trace_id(), prof.create_trace_id()
    assert first != second and all(len(made) == 32 and int(made, 16) and made == made.upper() for made in (first, second))
    prof = profiler.profile(custom_trace_id_callback=lambda: "mine")
    assert prof.create_trace_id() == "mine" and prof.default_trace_id() != "mine" and prof.trace_id == ""
    assert prof.config(create_trace_id=True).trace_id == prof.trace_id == "mine" == prof.config().trace_id


def test_a_trace_that_is_started_has_an_id_of_its_own(op):
    prof = profiler.profile()
    made = prof.config(create_trace_id=True).trace_id
    with prof:
        op("aten::mul")
    assert prof.trace_id not in ("", made) and prof.config().trace_id == prof.trace_id


def test_a_profile_knows_when_it_recorded(op):
    prof = profiler.profile()
    assert prof.profiling_start_time_ns == prof.profiling_end_time_ns == 0
    before = time.perf_counter_ns()
    with prof:
        op("aten::mul")
        assert before <= prof.profiling_start_time_ns <= time.perf_counter_ns() and prof.profiling_end_time_ns == 0
    assert prof.profiling_start_time_ns < prof.profiling_end_time_ns <= time.perf_counter_ns()
    assert prof._stats.profiling_window_duration_sec * 1e9 == pytest.approx(prof.profiling_end_time_ns - prof.profiling_start_time_ns)


def test_whether_a_profile_records_can_be_asked_quickly():
    assert profiler._is_profiler_enabled is False
    with profiler.profile():
        assert profiler._is_profiler_enabled is True
    assert profiler._is_profiler_enabled is False
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        profiler.no_such_name  # noqa: B018


def test_names_of_the_profiler_are_found_in_autograd():
    from mindtorch_v2 import autograd
    from mindtorch_v2.profiler import DeviceType, ProfilerActivity, supported_activities

    assert autograd.DeviceType is DeviceType and autograd.ProfilerActivity is ProfilerActivity
    assert autograd.ProfilerConfig and autograd.ProfilerState.KINETO.value == 6
    assert autograd.kineto_available() and autograd._supported_activities() == supported_activities()


def test_a_scope_may_have_arguments(op):
    from mindtorch_v2 import autograd

    with new_profile(record_shapes=True) as prof:
        handle = autograd._record_function_with_args_enter("scope", 1, SimpleNamespace(shape=(3, 4, 5)))
        op("aten::mul")
        autograd._record_function_with_args_exit(handle)
    scope, inside = prof.events()
    assert scope["kind"] == "scope" and scope.input_shapes == [[], [3, 4, 5]] and inside.cpu_parent == scope


def test_raw_events_are_read_by_the_methods_of_torchs_c_side(op, tmp_path):
    before = time.time_ns()
    with new_profile(record_shapes=True) as prof:
        op("aten::mul", [2, 3])
        op("aten::add", [4])
    after = time.time_ns()
    result = prof.profiler.kineto_results
    raw, event = result.events()[1], prof.events()[1]
    assert len(result.events()) == 2 and [one.name() for one in result.events()[::-1]] == ["aten::add", "aten::mul"]
    assert (raw.name(), raw.correlation_id(), raw.shapes()) == ("aten::add", event.id, [[4]])
    assert raw.duration_ns() == event["duration_ns"] == raw.end_ns() - raw.start_ns()
    assert raw.device_type() == "CPU" and raw.nbytes() == 0 and raw.cuda_elapsed_us() == -1 and not raw.is_hidden_event()
    # What torch's own parser does with them.
    assert raw.start_ns() - result.trace_start_ns() == pytest.approx(event.time_range.start * 1000, abs=1)
    assert before <= raw.start_ns() <= raw.end_ns() <= after


def test_times_of_events_and_of_the_trace_agree(op, trace_of):
    with new_profile() as prof:
        op("aten::mul")
    trace = trace_of(prof)
    written = next(event for event in trace["traceEvents"] if event["name"] == "aten::mul")
    start_ns = prof.events()[0].time_range.start * 1000 + prof.profiler.kineto_results.trace_start_ns()
    assert start_ns == pytest.approx(trace["baseTimeNanoseconds"] + written["ts"] * 1000, abs=1e3)


def test_what_only_kineto_has_says_so():
    with new_profile() as prof:
        pass
    with pytest.raises(RuntimeError, match="not exist here"):
        prof.profiler.kineto_results.trace_activities()
