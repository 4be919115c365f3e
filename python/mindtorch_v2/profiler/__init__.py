"""torch.profiler's API: what a program does, op by op, as lists, tables and traces."""

from mindtorch_v2.profiler._config import _ExperimentalConfig as _ExperimentalConfig
from mindtorch_v2.profiler._enums import DeviceType, ProfilerAction, ProfilerActivity, RecordScope
from mindtorch_v2.profiler._event_list import EventList
from mindtorch_v2.profiler._hosts import status
from mindtorch_v2.profiler._step_tracker import KinetoStepTracker
from mindtorch_v2.profiler.profiler import (
    _KinetoProfile as _KinetoProfile,
)
from mindtorch_v2.profiler.profiler import (
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "DeviceType",
    "EventList",
    "KinetoStepTracker",
    "ProfilerAction",
    "ProfilerActivity",
    "RecordScope",
    "kineto_available",
    "profile",
    "schedule",
    "status",
    "supported_activities",
    "tensorboard_trace_handler",
]

_supported_activities = supported_activities


def kineto_available():
    """torch asks whether traces can be recorded at all; here they always can."""
    return True
