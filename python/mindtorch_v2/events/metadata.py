"""EventMetadata: the attributes of an event by torch's field names."""

import json
from typing import Any, NamedTuple

__all__ = ["EventMetadata", "build_metadata", "metadata_json"]


class EventMetadata(NamedTuple):
    """The properties of device work and of collectives; None where they do not apply."""

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


# Values may come as text, as those of torch's events do.
_FROM_TEXT = {
    int | None: int,
    float | None: float,
    list | None: json.loads,
    dict | None: json.loads,
    str | None: lambda text: text.strip('"'),
    bool | None: lambda text: text in ("1", "true"),
}


def _value(field: str, attributes: dict[str, Any]) -> Any:
    value = attributes.get(_TRACE_KEYS.get(field, field.replace("_", " ")))
    if not isinstance(value, str):
        return value
    try:
        return _FROM_TEXT[EventMetadata.__annotations__[field]](value)
    except ValueError:  # an unrelated attribute of the same name
        return value


def build_metadata(attributes: dict[str, Any]) -> EventMetadata | None:
    """The attributes of an event by torch's field names; None if it has no such attributes."""
    values = [_value(field, attributes) for field in EventMetadata._fields]
    return EventMetadata(*values) if any(value is not None for value in values) else None


def metadata_json(event_id: int, index: int, attributes: dict[str, Any]) -> str:
    """The ids of an event in the Chrome trace and its attributes, as the inside of a JSON object, as torch keeps them."""
    return json.dumps({"External id": event_id, **attributes, "Ev Idx": index})[1:-1]
