"""ProfilerActivityConfig and what it holds, as PyTorch 2.15 takes them in `activities`."""

import inspect
import json
import warnings
from dataclasses import make_dataclass

import pytest
from mindtorch_v2.profiler import (
    CuspyConfig,
    PerformanceMetricsConfig,
    ProfilerActivity,
    ProfilerActivityConfig,
    _ExperimentalConfig,
    profile,
)
from mindtorch_v2.profiler._activity_config import with_configs

# Arguments and defaults of PyTorch 2.15.0.
SIGNATURES = {
    ProfilerActivityConfig: [("activity_types", None), ("profiler_configs", list)],
    PerformanceMetricsConfig: [("metric_names", inspect.Parameter.empty), ("sampling_interval_ms", None), ("lookback_window_ms", None)],
    CuspyConfig: [
        ("enable_cuda_sync_events", False),
        ("enable_environment_counters", False),
        ("enable_graph_dependencies", False),
        ("enable_event_node_ids", False),
    ],
}


@pytest.mark.parametrize("config", SIGNATURES)
def test_the_configurations_have_torchs_arguments(config):
    found = [(each.name, each.default) for each in inspect.signature(config).parameters.values()]
    assert [name for name, _ in found] == [name for name, _ in SIGNATURES[config]]
    assert all(default == wanted or wanted is list for (_, default), (_, wanted) in zip(found, SIGNATURES[config], strict=True))


@pytest.mark.torch
@pytest.mark.parametrize("config", SIGNATURES)
def test_they_are_those_of_the_installed_torch(config):
    theirs = getattr(pytest.importorskip("torch").profiler, config.__name__, None)
    if theirs is None:
        pytest.skip("this release of torch does not have it")
    assert list(inspect.signature(theirs).parameters) == list(inspect.signature(config).parameters)


@pytest.mark.parametrize("types, kept", [(["CPU_OP"], ["aten::mul"]), ([], []), (None, ["aten::mul"])])
def test_the_types_of_a_configuration_limit_an_activity(op, types, kept):
    with profile(activities=[{ProfilerActivity.CPU: ProfilerActivityConfig(activity_types=types)}]) as prof:
        op("aten::mul")
    assert [event.name for event in prof.events()] == kept


def test_configurations_become_options():
    metrics = PerformanceMetricsConfig(["sm__cycles_active.avg"], sampling_interval_ms=2, lookback_window_ms=10_000)
    cuspy = CuspyConfig(enable_cuda_sync_events=True, enable_environment_counters=True)
    made = with_configs(_ExperimentalConfig(verbose=True), [metrics, cuspy])
    assert (made.verbose, made.enable_cuda_sync_events, made.enable_environment_counters) == (True, True, True)
    assert (made.performance_metrics, made.performance_metrics_interval_ms) == (["sm__cycles_active.avg"], 2.0)
    assert with_configs(None, []) is None


def test_objects_of_another_module_with_these_names_are_accepted(op):
    theirs = make_dataclass("ProfilerActivityConfig", ["activity_types", "profiler_configs"])
    cuspy = make_dataclass("CuspyConfig", [("enable_cuda_sync_events", bool, False)])(True)
    with profile(activities=[{"CPU": theirs(["CPU_OP"], [cuspy])}]) as prof:
        op("aten::mul")
    assert [event.name for event in prof.events()] == ["aten::mul"]


@pytest.mark.parametrize("backend", [{"backend": "cuspy"}, {"backend": "cupti_monitor"}, {"cuspy": True}])
def test_the_text_of_torchs_other_profiler_becomes_options(backend):
    text = json.dumps({**backend, "enable_environment_counters": True})
    assert with_configs(_ExperimentalConfig(custom_profiler_config=text), []).enable_environment_counters
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        profile(activities=["CPU"], experimental_config=_ExperimentalConfig(custom_profiler_config=text))


def test_what_has_no_effect_is_told(op, tmp_path):
    with pytest.warns(UserWarning, match="enable_graph_dependencies has no effect"):
        profile(activities=[{"CPU": ProfilerActivityConfig(profiler_configs=[CuspyConfig(enable_graph_dependencies=True)])}])
    with profile() as prof:
        op("aten::mul")
    with pytest.warns(UserWarning, match="cuda_graph_annotations and graph_lanes have no effect"):
        prof.export_chrome_trace(tmp_path / "trace.json", cuda_graph_annotations={1: {}})
    with pytest.warns(UserWarning, match="include_python_functions has no effect"):
        prof.key_averages(include_python_functions=True)


def test_every_export_is_complete_when_it_returns(op):
    with profile() as prof:
        op("aten::mul")
    assert prof.wait_for_exports() is None and prof.take_pending_cuspy_export() is None


def test_anything_else_among_the_configurations_is_refused():
    with pytest.raises(TypeError, match="profiler_configs holds PerformanceMetricsConfig and CuspyConfig, got int"):
        profile(activities=[{"CPU": ProfilerActivityConfig(profiler_configs=[3])}])
