"""What the steps of a recording of a monitor consist of."""

from __future__ import annotations

from dataclasses import dataclass, field

_TOP = 8
_STEP = "ProfilerStep"
_COLLECTIVES = ("gloo:", "mpi:", "ucc:", "nccl", "hccl", "hcom_")


@dataclass
class Work:
    """Means per step of the recording that was looked at last; None where there is nothing."""

    steps: int = 0
    top_ops: list[dict] = field(default_factory=list)  # name, seconds, calls; with most time of their own first
    collective_seconds: float | None = None
    device_busy_share: float | None = None


def work_of(prof, step_seconds: float | None) -> Work:
    """Looks at a recording; steps that last so long have `step_seconds`."""
    rows = prof.key_averages()
    begun = sum(row.count for row in rows if row.key.startswith(_STEP))
    if begun == 0:
        return Work()
    steps = max(1, begun - 1)  # the last one is still running
    ops, device_seconds, collective_seconds, has_collectives = [], 0.0, 0.0, False
    for row in rows:
        own = row.self_cpu_time_total + row.self_device_time_total
        if row.key.startswith(_COLLECTIVES):
            has_collectives = True
            collective_seconds += 1e-6 * max(row.cpu_time_total, row.device_time_total)
        elif not row.key.startswith(_STEP):
            ops.append({"name": row.key, "seconds": 1e-6 * own / steps, "calls": row.count / steps})
        device_seconds += 1e-6 * row.self_device_time_total
    ops.sort(key=lambda op: -op["seconds"])
    return Work(
        steps,
        ops[:_TOP],
        collective_seconds / steps if has_collectives else None,
        min(1.0, device_seconds / steps / step_seconds) if device_seconds and step_seconds else None,
    )
