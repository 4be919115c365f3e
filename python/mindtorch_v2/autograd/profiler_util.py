"""torch.autograd.profiler_util: events, their lists and their parts."""

from bisect import bisect_left, bisect_right
from collections import defaultdict

from mindtorch_v2._C import FunctionEventAvg, demangled
from mindtorch_v2._C import format_memory as _format_memory  # noqa: F401
from mindtorch_v2._C import format_time as _format_time  # noqa: F401
from mindtorch_v2.base.enums import DeviceType as DeviceType
from mindtorch_v2.events.event_list import EventList
from mindtorch_v2.events.function_event import FormattedTimesMixin, FunctionEvent, Interval, Kernel
from mindtorch_v2.events.metadata import EventMetadata

__all__ = [
    "EventList",
    "EventMetadata",
    "FormattedTimesMixin",
    "FunctionEvent",
    "FunctionEventAvg",
    "Interval",
    "Kernel",
    "MemRecordsAcc",
    "StringTable",
]

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"


class StringTable(defaultdict):
    """Names in readable form, each computed once."""

    def __missing__(self, key):
        self[key] = demangled(key) if len(key) > 1 else key
        return self[key]


class MemRecordsAcc:
    """Memory records (tuples whose first item has start_ns()) that can be looked up by time."""

    def __init__(self, mem_records):
        self._records = sorted(mem_records, key=lambda record: record[0].start_ns())
        self._starts = [record[0].start_ns() for record in self._records]

    def in_interval(self, start_ns, end_ns):
        """Records from `start_ns` to `end_ns`, both included, in order of time."""
        yield from self._records[bisect_left(self._starts, start_ns) : bisect_right(self._starts, end_ns)]
