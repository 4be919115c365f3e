"""The last lines of `mtprof run`: where the time went, what profiling cost, what was lost, and what to do next."""

from __future__ import annotations

import json
import statistics
import subprocess
from pathlib import Path

from mindtorch_v2._mtprof import find_program


def time_text(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def _ask(*arguments) -> dict:
    """The answer of the native program; empty if the program is not there or cannot answer."""
    program = find_program()
    if program is None:
        return {}
    done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True, errors="replace")
    return json.loads(done.stdout) if done.stdout else {}


def _steps_line(info: dict) -> str:
    durations = [step["duration_ns"] for step in info["steps"]]
    if not durations or (len(durations) < 2 and not info["kinds"].get("step")):
        return f"no optimizer step: {time_text(info['duration_ns'])} were recorded; the report shows them in slices of time"
    line = f"{len(durations)} steps, median {time_text(statistics.median(durations))}"
    if len(durations) >= 4:
        line += f", slowest {time_text(max(durations))}"
    return line


def _largest_line(rows: list[dict]) -> str:
    """The three rows with most time of their own, on the host or on a device."""
    times = {}
    for row in rows:
        if row["key"] == "ProfilerStep*":
            continue
        is_device = row["device_type"] != "CPU"
        own = row["self_device_time_total"] if is_device else row["self_cpu_time_total"]
        times[row["key"], is_device] = own * 1000
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
    recorded, plain = facts["recorded_step_s"], facts["unrecorded_step_s"]
    if len(recorded) >= 3 and len(plain) >= 3:
        ratio = statistics.median(recorded) / statistics.median(plain)
        return f"{line}; recorded steps took {ratio:.2f} times as long as the {len(plain)} steps that were not recorded"
    if facts["ns_per_event"] is not None and info["duration_ns"]:
        share = 100 * facts["ns_per_event"] * info["events"] / info["duration_ns"]
        line += f"; {info['events']} events at {facts['ns_per_event']:.0f} ns each (measured at the end): about {share:.2g} % of the time"
    return line


def _losses_line(info: dict) -> str:
    lost = [loss for loss in info["losses"] if loss["count"]]
    return ", ".join(f"{loss['count']} ({loss['reason']})" for loss in lost) or "nothing"


def _size(path: Path) -> str:
    """Three digits or a little more: "812 bytes", "14.2 kB", "3.1 MB"."""
    size = path.stat().st_size
    if size < 1000:
        return f"{size} bytes"
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"


def summary(files: list[Path]) -> str:
    """One block for the first file; of others the steps alone."""
    lines = []
    first = _ask("info", files[0])
    if first:
        lines += [f"steps     {_steps_line(first)}"]
        lines += [f"largest   {_largest_line(_ask('table', files[0]).get('rows', []))}"]
        lines += [f"cost      {_cost_line(first)}", f"lost      {_losses_line(first)}"]
    for path in files:
        info = first if path == files[0] else _ask("info", path)
        note = f"  ({_steps_line(info)})" if info and len(files) > 1 else ""
        lines.append(f"file      {path} ({_size(path)}){note}")
    lines.append(f"next      mtprof report {files[0]}")
    return "\n".join(f"mtprof: {line}" for line in lines)
