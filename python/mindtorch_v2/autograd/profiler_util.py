"""torch.autograd.profiler_util: events, their lists and what hangs on them."""

import json
from abc import ABC
from bisect import bisect_left, bisect_right
from collections import defaultdict, namedtuple
from typing import Any, NamedTuple

from mindtorch_v2._C import FunctionEvent, FunctionEventAvg, demangled
from mindtorch_v2.profiler._event_list import EventList

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


class Interval:
    """A time range [start, end) in microseconds."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def elapsed_us(self):
        return self.end - self.start

    def __repr__(self):
        return f"Interval(start={self.start}, end={self.end})"


# Device work launched by an event; duration in microseconds.
Kernel = namedtuple("Kernel", ["name", "device", "duration"])

MEMORY_EVENT_NAME = "[memory]"
OUT_OF_MEMORY_EVENT_NAME = "[OutOfMemory]"


class EventMetadata(NamedTuple):
    """What is known of device work and of collectives, None where it does not apply."""

    registers_per_thread: int | None
    shared_memory: int | None
    grid: list | None
    block: list | None
    priority: int | None
    blocks_per_sm: float | None
    warps_per_sm: float | None
    occupancy: dict | None
    est_occupancy_pct: float | None
    queued: int | None
    graph_id: int | None
    graph_node_id: int | None
    stream: int | None
    context: int | None
    channel: int | None
    channel_type: int | None
    bytes: int | None
    bandwidth_gb_s: float | None
    collective_name: str | None
    dtype: str | None
    in_msg_nelems: int | None
    out_msg_nelems: int | None
    in_split_size: str | None
    out_split_size: str | None
    global_rank_start: int | None
    global_rank_stride: int | None
    group_size: int | None
    process_group_name: str | None
    process_group_desc: str | None
    group_ranks: str | None
    rank: int | None
    src_rank: int | None
    dst_rank: int | None
    seq: int | None
    is_async: bool | None


# Fields whose name in a trace is not their own with spaces for underscores.
_TRACE_KEYS = {
    "blocks_per_sm": "blocks per SM",
    "warps_per_sm": "warps per SM",
    "est_occupancy_pct": "est. achieved occupancy %",
    "channel_type": "channel_type",
    "bandwidth_gb_s": "memory bandwidth (GB/s)",
    "collective_name": "Collective name",
    "in_msg_nelems": "In msg nelems",
    "out_msg_nelems": "Out msg nelems",
    "in_split_size": "In split size",
    "out_split_size": "Out split size",
    "global_rank_start": "Global rank start",
    "global_rank_stride": "Global rank stride",
    "group_size": "Group size",
    "process_group_name": "Process Group Name",
    "process_group_desc": "Process Group Description",
    "group_ranks": "Process Group Ranks",
    "rank": "Rank",
    "src_rank": "Src Rank",
    "dst_rank": "Dst Rank",
    "seq": "Seq",
    "is_async": "Is asynchronized op",
}


def _build_metadata(attributes: dict[str, Any]) -> EventMetadata | None:
    """The attributes of an event by torch's field names; None if it has none of them."""
    values = [attributes.get(_TRACE_KEYS.get(field, field.replace("_", " "))) for field in EventMetadata._fields]
    return EventMetadata(*values) if any(value is not None for value in values) else None


def _metadata_json(attributes: dict[str, Any]) -> str:
    """The attributes as the inside of a JSON object, as torch keeps them."""
    return json.dumps(attributes)[1:-1]


class FormattedTimesMixin(ABC):  # noqa: B024
    """What has times as text: cpu_time_str, device_time_str, ... Both kinds of rows are of this type."""


FormattedTimesMixin.register(FunctionEvent)
FormattedTimesMixin.register(FunctionEventAvg)


class StringTable(defaultdict):
    """Names in readable form, each worked out once."""

    def __missing__(self, key):
        self[key] = demangled(key) if len(key) > 1 else key
        return self[key]


class MemRecordsAcc:
    """Memory records (tuples whose first item has start_ns()) that can be asked for by time."""

    def __init__(self, mem_records):
        self._records = sorted(mem_records, key=lambda record: record[0].start_ns())
        self._starts = [record[0].start_ns() for record in self._records]

    def in_interval(self, start_ns, end_ns):
        """Records from `start_ns` to `end_ns`, both included, in order of time."""
        yield from self._records[bisect_left(self._starts, start_ns) : bisect_right(self._starts, end_ns)]
