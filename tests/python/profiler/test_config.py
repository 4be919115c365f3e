"""_ExperimentalConfig: options of torch, and our own."""

import copy
import dataclasses
import gc
import os
import pickle
import re
from typing import get_args

import pytest
from mindtorch_v2.profiler import _ExperimentalConfig, profile, schedule


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
        ({"performance_metrics": [""]}, r"performance_metrics must be a list of names, got \[''\]"),
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


FLAGS = [option.name for option in dataclasses.fields(_ExperimentalConfig) if option.type is bool]


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", [1, 0, 2.5, None, True])
@pytest.mark.filterwarnings("ignore:experimental_config")
def test_a_flag_may_be_a_number_or_none_as_in_torch(name, value):
    config = _ExperimentalConfig(**{name: value})
    assert getattr(config, name) is bool(value)
    profile(activities=["cpu"], experimental_config=config)


WRONG = {
    bool: ["yes", "", b"x", [], ["a"], {}, object()],
    str: [3, None, ["a"], object()],
    list: [3, None, "name", b"name", [3], {"a": 1}, object()],
    int: ["3", 2.5, [1], float("nan"), object()],
    float: ["3", [1], {}, object()],
    os.PathLike: [3, [1], object()],
}


@pytest.mark.parametrize(
    "name, value",
    [
        (option.name, value)
        for option in dataclasses.fields(_ExperimentalConfig)
        for value in WRONG[(get_args(option.type) or (option.type,))[0]]
    ],
)
def test_a_wrong_type_is_a_type_error_that_names_the_option_and_the_value(name, value):
    message = f"^experimental_config: {name} must be .*, got {re.escape(repr(value))}$"
    with pytest.raises(TypeError, match=message):
        _ExperimentalConfig(**{name: value})
    config = _ExperimentalConfig()
    with pytest.raises(TypeError, match=message):
        setattr(config, name, value)
    assert config == _ExperimentalConfig()


def test_what_is_put_into_a_list_of_names_later_is_looked_at_too():
    config = _ExperimentalConfig()
    config.performance_events.append(3)
    with pytest.raises(TypeError, match=r"performance_events has the wrong type: \[3\], a list"):
        profile(experimental_config=config)


@pytest.mark.parametrize("name", ["budget_bytes", "keep_last_steps"])
def test_a_number_that_no_counter_holds_is_refused(name):
    with pytest.raises(TypeError, match=f"{name} has the wrong type: 1{'0' * 30}, a int"):
        profile(experimental_config=_ExperimentalConfig(**{name: 10**30}))


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_seconds_to_keep_that_make_no_sense_are_refused(seconds):
    with pytest.raises(ValueError, match="keep_last_seconds must be a number of seconds"):
        _ExperimentalConfig(keep_last_seconds=seconds)


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("execution_trace_observer", 5, r"execution_trace_observer must have start\(\), stop\(\) and cleanup\(\), got 5"),
        ("custom_trace_id_callback", 5, "custom_trace_id_callback must be callable, got 5"),
        ("on_trace_ready", 5, "on_trace_ready must be callable, got 5"),
        ("schedule", 5, "schedule must be callable"),
        ("activities", 5, "activities must be a list of ProfilerActivity members or of their names, got 5"),
        ("activities", [{"cpu": 5}], "the event groups of an activity must be a list of names, got 5"),
        ("post_processing_timeout_s", "5", "post_processing_timeout_s must be a number of seconds or None, got '5'"),
    ],
)
def test_a_wrong_argument_of_profile_is_named_before_anything_is_recorded(option, value, message):
    with pytest.raises(TypeError, match=message):
        profile(**{option: value})


def test_a_trace_id_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="custom_trace_id_callback: its result has the wrong type: 5, a int"):
        profile(activities=["cpu"], custom_trace_id_callback=lambda: 5).start()


@pytest.mark.parametrize("name", ["wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait"])
@pytest.mark.parametrize("value", ["1", None, 1.5, [1], float("nan")])
def test_a_schedule_names_a_wrong_number(name, value):
    with pytest.raises(TypeError, match=f"^schedule: {name} must be a whole number of steps, got {re.escape(repr(value))}$"):
        schedule(**{"wait": 1, "warmup": 1, "active": 1, name: value})
