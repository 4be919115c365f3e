"""torch.profiler's API: what a program does, op by op, as lists, tables and traces."""

from mindtorch_v2._C import _RecordFunctionFast as _RecordFunctionFast
from mindtorch_v2._C import record_function
from mindtorch_v2.profiler import _nvtx as _nvtx
from mindtorch_v2.profiler import itt
from mindtorch_v2.profiler._config import _ExperimentalConfig as _ExperimentalConfig
from mindtorch_v2.profiler._dispatch import dispatch_op_enter, dispatch_op_exit, is_profiler_enabled
from mindtorch_v2.profiler._enums import DeviceType, ProfilerAction, ProfilerActivity, RecordScope
from mindtorch_v2.profiler._event_list import EventList
from mindtorch_v2.profiler._execution_trace import ExecutionTraceObserver
from mindtorch_v2.profiler._hosts import status
from mindtorch_v2.profiler._kineto_profile import _KinetoProfile as _KinetoProfile
from mindtorch_v2.profiler._monitor import Monitor, monitor
from mindtorch_v2.profiler._monitor_handlers import opentelemetry_handler, prometheus_handler, tensorboard_handler
from mindtorch_v2.profiler._opentelemetry import opentelemetry_trace_handler
from mindtorch_v2.profiler._step_tracker import KinetoStepTracker
from mindtorch_v2.profiler.profiler import (
    kineto_available,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)
from mindtorch_v2.torch_bridge.compilers import introduce_profile, introduce_to_torch

__all__ = [
    "DeviceType",
    "EventList",
    "ExecutionTraceObserver",
    "KinetoStepTracker",
    "Monitor",
    "ProfilerAction",
    "ProfilerActivity",
    "RecordScope",
    "dispatch_op_enter",
    "dispatch_op_exit",
    "is_profiler_enabled",
    "itt",
    "kineto_available",
    "monitor",
    "opentelemetry_handler",
    "opentelemetry_trace_handler",
    "profile",
    "prometheus_handler",
    "record_function",
    "schedule",
    "status",
    "supported_activities",
    "tensorboard_handler",
    "tensorboard_trace_handler",
]

_supported_activities = supported_activities
introduce_to_torch()
introduce_profile(profile)
_nvtx.be_found()
