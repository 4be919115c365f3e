"""What PyTorch 2.15 takes in `activities` beside names: a ProfilerActivityConfig, with configurations of counters and of CUDA activities.

torch's own objects are accepted too. They are told by the names of their classes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from mindtorch_v2.base.warnings import warn
from mindtorch_v2.profiler._config import _ExperimentalConfig, is_of_cuspy, options_of_text

__all__ = ["CuspyConfig", "PerformanceMetricsConfig", "ProfilerActivityConfig"]


class _ProfilerExtensionConfig:
    """The base of what `profiler_configs` may hold."""


@dataclass(frozen=True)
class CuspyConfig(_ProfilerExtensionConfig):
    """What is recorded of CUDA beside its work: waits, and power, clocks and temperatures.

    `enable_graph_dependencies` and `enable_event_node_ids` have no effect.
    """

    enable_cuda_sync_events: bool = False
    enable_environment_counters: bool = False
    enable_graph_dependencies: bool = False
    enable_event_node_ids: bool = False


@dataclass
class PerformanceMetricsConfig(_ProfilerExtensionConfig):
    """Hardware counters of a GPU to sample, and how often; None: each millisecond.

    `lookback_window_ms` has no effect: samples are kept as long as the events.
    """

    metric_names: list[str]
    sampling_interval_ms: float | None = None
    lookback_window_ms: float | None = None


@dataclass
class ProfilerActivityConfig:
    """What is recorded of an activity: these groups of its events (None: all), and what its configurations add."""

    activity_types: list[str] | None = None
    profiler_configs: list[_ProfilerExtensionConfig] = field(default_factory=list)


def is_activity_config(value: object) -> bool:
    return type(value).__name__ == ProfilerActivityConfig.__name__


def with_configs(config: _ExperimentalConfig | None, extensions: list) -> _ExperimentalConfig | None:
    """The options of a profile, with what the configurations of its activities, and torch's older text of them, ask for."""
    changes = _options_of_text(config.custom_profiler_config) if config is not None else {}
    for extension in extensions:
        changes |= _options_of(extension)
    return replace(config or _ExperimentalConfig(), **changes) if changes else config


def _options_of(extension) -> dict[str, object]:
    if type(extension).__name__ == PerformanceMetricsConfig.__name__:
        interval = extension.sampling_interval_ms
        return {"performance_metrics": list(extension.metric_names)} | (
            {} if interval is None else {"performance_metrics_interval_ms": float(interval)}
        )
    if type(extension).__name__ == CuspyConfig.__name__:
        return _of_cuspy(vars(extension))
    raise TypeError(f"profiler_configs holds PerformanceMetricsConfig and CuspyConfig, got {type(extension).__name__}")


def _of_cuspy(options: dict[str, object]) -> dict[str, object]:
    for name in ("enable_graph_dependencies", "enable_event_node_ids"):
        if options.get(name):
            warn(f"{name} has no effect: dependencies of CUDA graphs and nodes of CUDA events are not recorded.")
    return {name: True for name in ("enable_cuda_sync_events", "enable_environment_counters") if options.get(name)}


def _options_of_text(text: str) -> dict[str, object]:
    return _of_cuspy(options_of_text(text)) if is_of_cuspy(text) else {}
