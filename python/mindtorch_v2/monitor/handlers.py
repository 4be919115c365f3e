"""Handlers of a monitor's metrics: Prometheus text, TensorBoard scalars, OpenTelemetry. Each is called with a dict of numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindtorch_v2.base.distributed import rank_of_environment

if TYPE_CHECKING:
    from collections.abc import Callable

_PREFIX = "mindtorch_"
_HELP = {
    "steps": ("counter", "Steps that have ended."),
    "step_seconds": ("gauge", "Time of the last step."),
    "step_seconds_median": ("gauge", "Median time of the last 256 steps."),
    "steps_per_second": ("gauge", "Steps per second, by the median."),
    "ops_per_second": ("gauge", "Recorded events per second."),
    "device_busy_share": ("gauge", "Share of the time in which devices work."),
    "collective_seconds": ("gauge", "Time in collectives per step."),
    "resident_bytes": ("gauge", "Memory of the process."),
    "monitor_cost_share": ("gauge", "Share of the time that the monitor takes."),
    "monitor_cost_limit": ("gauge", "Share of the time that the monitor may take."),
    "recorded_steps_share": ("gauge", "Share of the steps that are recorded."),
    "lost_events": ("counter", "Events that could not be recorded."),
    "files_written": ("counter", "Files that were written."),
}


def _labels() -> dict[str, str]:
    rank = rank_of_environment()
    return {"pid": str(os.getpid()), **({} if rank is None else {"rank": str(rank)})}


def prometheus_text(metrics: dict[str, float | None]) -> str:
    """The metrics in Prometheus' text format."""
    labels = ",".join(f'{name}="{value}"' for name, value in _labels().items())
    lines = []
    for name, value in metrics.items():
        if value is None:
            continue
        kind, text = _HELP.get(name, ("gauge", name))
        full = _PREFIX + name + ("_total" if kind == "counter" else "")
        lines += [f"# HELP {full} {text}", f"# TYPE {full} {kind}", f"{full}{{{labels}}} {float(value)!r}"]
    return "\n".join(lines) + "\n"


def prometheus_handler(path: str | os.PathLike) -> Callable[[dict], None]:
    """Writes a file for the textfile collector of a node exporter. A reader sees the old file or the new one, never a half."""
    path = Path(path)

    def write(metrics: dict) -> None:
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(prometheus_text(metrics))
        temporary.replace(path)

    return write


def tensorboard_handler(writer: Any) -> Callable[[dict], None]:
    """Adds scalars to a SummaryWriter of torch.utils.tensorboard or tensorboardX."""

    def write(metrics: dict) -> None:
        for name, value in metrics.items():
            if value is not None and name != "steps":
                writer.add_scalar(f"mindtorch/{name}", value, metrics["steps"])

    return write


def opentelemetry_handler(meter_provider: Any = None) -> Callable[[dict], None]:
    """Sets gauges of OpenTelemetry's SDK; by default of the global meter provider. Needs the package opentelemetry-api."""
    try:
        from opentelemetry import metrics as api
    except ImportError:
        raise ImportError("opentelemetry_handler needs the package opentelemetry-api: pip install opentelemetry-sdk") from None
    meter = (meter_provider or api.get_meter_provider()).get_meter("mindtorch.monitor")
    gauges: dict[str, Any] = {}

    def write(metrics: dict) -> None:
        for name, value in metrics.items():
            if value is None:
                continue
            if name not in gauges:
                gauges[name] = meter.create_gauge(f"mindtorch.{name}", description=_HELP.get(name, ("", name))[1])
            gauges[name].set(value, _labels())

    return write
