"""torch.profiler's API: what a program does, op by op, as lists, tables and traces."""

import importlib as _importlib
from typing import TYPE_CHECKING

from mindtorch_v2._C import _RecordFunctionFast as _RecordFunctionFast
from mindtorch_v2._C import record_function
from mindtorch_v2.base.enums import DeviceType, ProfilerAction, ProfilerActivity, RecordScope
from mindtorch_v2.capture import nvtx as _nvtx
from mindtorch_v2.capture.dispatch import dispatch_op_enter, dispatch_op_exit, is_profiler_enabled
from mindtorch_v2.events.event_list import EventList
from mindtorch_v2.profiler import _parquet as _parquet
from mindtorch_v2.profiler import itt
from mindtorch_v2.profiler._activity_config import CuspyConfig, PerformanceMetricsConfig, ProfilerActivityConfig
from mindtorch_v2.profiler._config import _ExperimentalConfig as _ExperimentalConfig
from mindtorch_v2.profiler._execution_trace import ExecutionTraceObserver
from mindtorch_v2.profiler._hosts import status
from mindtorch_v2.profiler._kineto_profile import _KinetoProfile as _KinetoProfile
from mindtorch_v2.profiler._opentelemetry import opentelemetry_trace_handler
from mindtorch_v2.profiler._options import Options
from mindtorch_v2.profiler._step_tracker import KinetoStepTracker
from mindtorch_v2.profiler.profiler import (
    kineto_available,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)
from mindtorch_v2.profiler.recording import Recording, load, ranks
from mindtorch_v2.torch_bridge.compilers import introduce_profile, introduce_to_torch

if TYPE_CHECKING:
    from mindtorch_v2.compat.take_over import TakeOver, take_over
    from mindtorch_v2.monitor.handlers import opentelemetry_handler, prometheus_handler, tensorboard_handler
    from mindtorch_v2.monitor.monitor import Monitor, monitor

__all__ = [
    "CuspyConfig",
    "DeviceType",
    "EventList",
    "ExecutionTraceObserver",
    "KinetoStepTracker",
    "Monitor",
    "Options",
    "PerformanceMetricsConfig",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerActivityConfig",
    "RecordScope",
    "Recording",
    "TakeOver",
    "dispatch_op_enter",
    "dispatch_op_exit",
    "is_profiler_enabled",
    "itt",
    "kineto_available",
    "load",
    "monitor",
    "opentelemetry_handler",
    "opentelemetry_trace_handler",
    "profile",
    "prometheus_handler",
    "ranks",
    "record_function",
    "schedule",
    "status",
    "supported_activities",
    "take_over",
    "tensorboard_handler",
    "tensorboard_trace_handler",
]

# Public names of rooms that are built on this one, which are imported when a program asks for them.
_OF_OTHER_ROOMS = {
    "Monitor": "mindtorch_v2.monitor.monitor",
    "TakeOver": "mindtorch_v2.compat.take_over",
    "monitor": "mindtorch_v2.monitor.monitor",
    "opentelemetry_handler": "mindtorch_v2.monitor.handlers",
    "prometheus_handler": "mindtorch_v2.monitor.handlers",
    "take_over": "mindtorch_v2.compat.take_over",
    "tensorboard_handler": "mindtorch_v2.monitor.handlers",
}


def __getattr__(name):
    if name not in _OF_OTHER_ROOMS:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = found = getattr(_importlib.import_module(_OF_OTHER_ROOMS[name]), name)
    return found


def __dir__():
    return sorted({*globals(), *_OF_OTHER_ROOMS})


_supported_activities = supported_activities
introduce_to_torch()
introduce_profile(profile)
_nvtx.be_found()
