"""_ExperimentalConfig, activities and status: options of torch, and our own."""

import copy
import gc
import pickle

import pytest
from mindtorch_v2.profiler import (
    ProfilerActivity,
    _ExperimentalConfig,
    kineto_available,
    profile,
    record_function,
    schedule,
    status,
    supported_activities,
)


def test_a_config_can_be_copied_and_pickled():
    config = _ExperimentalConfig(["metric"], verbose=True, keep_last_steps=2)
    assert pickle.loads(pickle.dumps(config)) == config == copy.copy(config)


@pytest.mark.parametrize(
    "option, value",
    [
        ("profiler_measure_per_kernel", True),
        ("adjust_profiler_step", True),
        ("disable_external_correlation", True),
        ("custom_profiler_config", "x"),
        ("adjust_timestamps", True),
    ],
)
def test_options_that_make_no_sense_here_say_so(option, value):
    with pytest.warns(UserWarning, match=f"^experimental_config.{option} has no effect: "):
        profile(experimental_config=_ExperimentalConfig(**{option: value}))


@pytest.mark.parametrize("option", ["profiler_metrics", "performance_events"])
def test_hardware_counters_are_warned_about(option):
    with pytest.warns(UserWarning, match="Hardware counters"):
        profile(experimental_config=_ExperimentalConfig(**{option: ["cycles"]}))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("option", ["verbose", "enable_cuda_sync_events", "capture_overload_names", "expose_kineto_event_metadata"])
def test_options_that_are_always_on_are_accepted(option):
    profile(experimental_config=_ExperimentalConfig(**{option: True}))


@pytest.mark.parametrize("config", [3, "verbose", object()])
def test_what_is_not_a_config_is_refused(config):
    with pytest.raises(TypeError, match=f"^experimental_config must be an _ExperimentalConfig, got {type(config).__name__}$"):
        profile(experimental_config=config)


def test_trace_only_refuses_events_but_exports(op, tmp_path):
    with profile(experimental_config=_ExperimentalConfig(trace_only=True)) as prof:
        op("aten::mul")
    for call in (prof.events, prof.key_averages):
        with pytest.raises(RuntimeError, match=r"^events\(\) is not available when trace_only=True in ExperimentalConfig"):
            call()
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert "aten::mul" in (tmp_path / "trace.json").read_text()


def test_trace_only_is_switched_off_by_with_stack(op):
    with pytest.warns(UserWarning, match="trace_only=True is incompatible with with_stack=True"):
        prof = profile(with_stack=True, experimental_config=_ExperimentalConfig(trace_only=True))
    assert prof.experimental_config.trace_only is False
    with prof:
        op("aten::mul")
    assert len(prof.events()) == 1


def test_garbage_collections_can_be_recorded(op):
    with profile(experimental_config=_ExperimentalConfig(record_python_gc_info=True)) as prof:
        gc.collect()
        op("aten::mul")
    gc.collect()
    assert [event.name for event in prof.events()] == ["Python GC", "aten::mul"]


def test_the_last_steps_can_be_kept_alone(op):
    with profile(experimental_config=_ExperimentalConfig(keep_last_steps=2)) as prof:
        for _ in range(10):
            op("aten::mul")
            prof.step()
    assert min(event["step"] for event in prof.events()) >= 8
    assert {loss.reason for loss in prof.losses()} <= {"overwritten"}


def test_events_can_be_spilled_to_a_file(op, tmp_path):
    path = tmp_path / "spilled.mtrec"
    with profile(experimental_config=_ExperimentalConfig(spill_path=str(path), budget_bytes=4 << 20)) as prof:
        for _ in range(50_000):
            op("aten::mul")
    assert path.stat().st_size > 0 and len(prof.events()) == 50_000


def test_threads_that_wait_for_the_spill_file_do_not_keep_the_interpreter_from_writing_it(run_program, tmp_path):
    """The writer reads call stacks, for which it needs the lock that a waiting thread of Python holds."""
    text = f"""
import threading
from mindtorch_v2.profiler import _ExperimentalConfig, dispatch_op_enter, dispatch_op_exit, profile

def work():
    for _ in range(50_000):
        dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", (), {{}}))

config = _ExperimentalConfig(spill_path={str(tmp_path / "spilled.mtrec")!r}, budget_bytes=1 << 20)
with profile(with_stack=True, record_shapes=True, experimental_config=config) as prof:
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(sum(event.name == "aten::mul" for event in prof.events()), prof.events()[0].stack[0].rsplit(":", 1)[1])
"""
    assert run_program(text).split() == ["150000", "work"]


def test_what_the_profiler_took_is_known(op):
    with profile() as prof:
        op("aten::mul")
    overhead = prof.overhead()
    assert overhead.events == 1 and overhead.window_ns > 0 and overhead.stop_ns > 0 and overhead.start_ns > 0 and overhead.bytes > 0
    assert "events=1" in repr(overhead)


@pytest.mark.parametrize(
    "groups, kept",
    [(["CPU_OP"], ["aten::mul"]), (["USER_ANNOTATION"], ["scope"]), (["CPU_OP", "USER_ANNOTATION"], ["scope", "aten::mul"]), ([], [])],
)
def test_an_activity_can_be_limited_to_groups_of_events(op, groups, kept):
    with profile(activities=[{ProfilerActivity.CPU: groups}]) as prof, record_function("scope"):
        op("aten::mul")
    assert [event.name for event in prof.events()] == kept
    assert prof.activity_filters == {ProfilerActivity.CPU: set(groups)}


@pytest.mark.parametrize("name", ["BOGUS", "GPU_MEMCPY"])
def test_a_group_that_is_none_of_the_activity_is_refused_with_torchs_text(name):
    with pytest.raises(RuntimeError, match=f"^Unknown or non-member activity type name: '{name}'$"):
        profile(activities=[{ProfilerActivity.CPU: [name]}])


def test_an_activity_is_given_once():
    with pytest.raises(ValueError, match="^Activity ProfilerActivity.CPU specified more than once$"):
        profile(activities=[ProfilerActivity.CPU, "cpu"])


@pytest.mark.parametrize("item", [3, None, object()])
def test_what_is_not_an_activity_is_refused(item):
    with pytest.raises(ValueError, match="unsupported profiler activity"):
        profile(activities=[item])


def test_the_cpu_is_always_supported():
    assert ProfilerActivity.CPU in supported_activities() and kineto_available() is True


def test_status_says_what_is_recorded_and_why_the_rest_is_not():
    found = status()
    assert not found.recording and found.clock and found.sources
    for source in found.sources:
        assert source.available == (not source.reason) and source.activity in ProfilerActivity
        assert source.name in str(found)
    assert found.bridges["torch"].startswith(("active: ", "inactive: ")) and "torch: " in str(found)
    with profile():
        assert status().recording


def test_a_schedule_shows_its_numbers():
    assert repr(schedule(wait=1, warmup=2, active=3)) == "schedule(wait=1, warmup=2, active=3, repeat=0, skip_first=0, skip_first_wait=0)"
    with pytest.raises(AssertionError, match="^Step must be non-negative. Got -1.$"):
        schedule(wait=1, warmup=2, active=3)(-1)
    with pytest.raises(TypeError):
        schedule(1, 2, 3)
    with pytest.raises(TypeError):
        schedule(wait=1.5, warmup=1, active=1)
