"""_ExperimentalConfig: options of torch, and our own."""

import copy
import gc
import pickle

import pytest
from mindtorch_v2.profiler import _ExperimentalConfig, profile


def test_a_config_can_be_copied_and_pickled():
    config = _ExperimentalConfig(["metric"], verbose=True, keep_last_steps=2)
    assert pickle.loads(pickle.dumps(config)) == config == copy.copy(config)


@pytest.mark.parametrize(
    "option, value",
    [
        ("profiler_measure_per_kernel", True),
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
@pytest.mark.parametrize(
    "option", ["verbose", "adjust_profiler_step", "enable_cuda_sync_events", "capture_overload_names", "expose_kineto_event_metadata"]
)
def test_options_that_are_always_on_are_accepted(option):
    profile(experimental_config=_ExperimentalConfig(**{option: True}))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("option", ["enable_environment_counters", "enable_cuda_events", "enable_nvtx"])
def test_extras_of_devices_are_accepted_where_there_is_no_device(option, op):
    with profile(activities=["cpu"], experimental_config=_ExperimentalConfig(**{option: True})) as prof:
        op("aten::mul")
    assert [event.name for event in prof.events()] == ["aten::mul"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"performance_metrics": "sm__cycles_active.avg"}, "performance_metrics must be a list of names, got 'sm__cycles_active.avg'"),
        ({"performance_metrics": [3]}, "performance_metrics must be a list of names"),
        ({"performance_metrics_interval_ms": 0}, "performance_metrics_interval_ms must be between 0.001 and 60000, got 0"),
        ({"performance_metrics_interval_ms": float("nan")}, "performance_metrics_interval_ms must be between"),
    ],
)
def test_metrics_that_cannot_be_sampled_are_refused(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        _ExperimentalConfig(**options)


def test_another_tool_that_gets_the_ranges_is_named(monkeypatch):
    monkeypatch.setenv("NVTX_INJECTION64_PATH", "/opt/other/tool.so")
    with pytest.warns(UserWarning, match=r"^enable_nvtx: ranges are not recorded\. .*names another tool \(/opt/other/tool\.so\)"):
        profile(activities=["cpu"], experimental_config=_ExperimentalConfig(enable_nvtx=True))


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
