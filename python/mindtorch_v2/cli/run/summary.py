"""The last lines of `mtprof run`: where the time went, what profiling cost, what was lost, and what to do next."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from mindtorch_v2.cli.percent import percent_text
from mindtorch_v2.cli.run.pages import next_command
from mindtorch_v2.profiler._overview import time_text
from mindtorch_v2.profiler.recording import load

if TYPE_CHECKING:
    from mindtorch_v2.events.event_list import EventList
    from mindtorch_v2.profiler.recording import Recording


def _opened(path: Path) -> Recording | None:
    """None if the file cannot be read: `mtprof report` tells why."""
    try:
        return load(path)
    except (MemoryError, OSError, RuntimeError, ValueError):
        return None


def _steps_line(info: dict) -> str:
    if not info["events"]:
        losses = [loss for loss in info["losses"] if loss["count"]]
        if losses and all(map(_tells_only_of_the_end, losses)):
            return "no events: the process did not end by itself, and nothing had reached the file"
        missing = _losses_line(info) if losses else info["damage"]
        return f"no events are left, they were lost: {missing}" if missing else "no events: nothing that can be recorded ran meanwhile"
    durations = [step["duration_ns"] for step in info["steps"]]
    if not durations or (len(durations) < 2 and not info["kinds"].get("step")):
        return f"no optimizer step: {time_text(info['duration_ns'])} were recorded; the report shows them in slices of time"
    line = f"{len(durations)} steps, median {time_text(statistics.median(durations))}"
    if len(durations) >= 4:
        line += f", slowest {time_text(max(durations))}"
    return line


def _largest_line(rows: EventList) -> str:
    """The three rows with most time of their own, on the host or on a device."""
    times = {}
    for row in rows:
        if row.key == "ProfilerStep*":
            continue
        is_device = row.device_type.name != "CPU"
        own = row.self_device_time_total if is_device else row.self_cpu_time_total
        times[row.key, is_device] = own * 1000
    largest = sorted(times.items(), key=lambda item: -item[1])[:3]
    whole = {side: sum(own for (_, is_device), own in times.items() if is_device == side) for side in (False, True)}
    parts = []
    for (name, is_device), own in largest:
        share = 100 * own / whole[is_device] if whole[is_device] else 0
        shown = name if len(name) <= 48 else name[:47] + "…"
        parts.append(f"{shown} {time_text(own)} ({share:.0f} % of {'device' if is_device else 'host'} time)")
    return ", ".join(parts) or "no ops"


def _cost_line(info: dict) -> str:
    facts = info["metadata"].get("mtprof_run")
    if not facts:
        return "unknown: the process did not end by itself"
    line = f"{time_text(facts['start_ns'])} to start, {time_text(facts['stop_ns'])} to stop"
    share = facts.get("cost_share")
    if share is None:
        return f"{line}; what recording added could not be measured"
    per_step = (
        f"; steps took about {percent_text(100 * share)} longer"
        if facts["steps"]
        else f"; the program took about {percent_text(100 * share)} longer"
    )
    if facts["cost_source"] == "steps":
        return line + per_step + f", compared with {len(facts['unrecorded_step_s'])} steps that were not recorded"
    return line + per_step + ", by prices of ops that were measured at the end"


def _losses_line(info: dict) -> str:
    lost = [loss for loss in info["losses"] if loss["count"]]
    known = [f"{loss['count']} ({loss['reason']})" for loss in lost if not _tells_only_of_the_end(loss)]
    if len(known) < len(lost):
        known.append("nothing else that is known" if known else "nothing that is known: the process did not end by itself")
    return ", ".join(known) or "nothing"


def _tells_only_of_the_end(loss: dict) -> bool:
    """A file that nobody has finished counts as one loss. What its process recorded after that, if anything, is not known."""
    return loss["reason"] == "damaged_file" and loss["count"] == 1 and loss["detail"].startswith("the recording was not finished")


def _size(path: Path) -> str:
    """Three digits or a little more: "812 bytes", "14.2 kB", "3.1 MB"."""
    size = path.stat().st_size
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"


def summary(files: list[Path]) -> str:
    """One block for the first file; of others the steps alone."""
    lines = []
    for path in files:
        recording = _opened(path)
        info = recording.info() if recording is not None else None
        if recording is not None and path == files[0]:
            lines += [f"steps     {_steps_line(info)}", f"largest   {_largest_line(recording.key_averages())}"]
            lines += [f"cost      {_cost_line(info)}", f"lost      {_losses_line(info)}"]
        note = f"  ({_steps_line(info)})" if info and len(files) > 1 else ""
        lines.append(f"file      {path} ({_size(path)}){note}")
    lines.append(f"next      {next_command(files)}")
    return "\n".join(lines)
