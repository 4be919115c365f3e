"""What a notebook shows of a recording: where a step goes, what to do about it, and what is missing."""

from __future__ import annotations

import os
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindtorch_v2.profiler.recording import Recording

_MOST_FINDINGS = 5
# Notebooks are light or dark, and text stands beside the colours.
_COLORS = ("#4c78a8", "#72b7b2", "#54a24b", "#eeca3b", "#f58518", "#b279a2", "#e45756", "#9d9d9d")


def time_text(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def overview_html(recording: Recording) -> str:
    overview = recording.overview()
    name = os.path.basename(recording.name) or "Recording"
    parts = [f"<p><b>{escape(name)}</b>: {escape(_headline(recording, overview))}</p>"]
    if overview.verdict.text:
        parts.append(f"<p>{escape(overview.verdict.text)}</p>")
    parts += [_bar(lane) for lane in overview.causes if lane.main or lane.device]
    parts.append(_findings(overview.findings))
    lost = [f"{loss.count} ({loss.reason})" for loss in recording.losses() if loss.count]
    if lost:
        parts.append(f"<p>Lost events: {escape(', '.join(lost))}</p>")
    return f'<div class="mindtorch-overview">{"".join(parts)}</div>'


def _headline(recording: Recording, overview) -> str:
    events = f"{recording.event_count:,} events"
    if not overview.steps:
        return f"{events}, no steps"
    if overview.steps == 1:
        return f"1 step of {time_text(overview.step_ns)}, {events}"
    return f"{overview.steps} steps, median {time_text(overview.step_ns)}, {events}"


def _bar(lane) -> str:
    """One bar with the mean times of a step, and a line that names them, largest first."""
    rows = sorted((row for row in lane.causes if row.ns_per_step > 0), key=lambda row: -row.ns_per_step)
    named, rest = rows[: len(_COLORS) - 1], rows[len(_COLORS) - 1 :]
    times = [(row.label, row.ns_per_step) for row in named]
    if rest:
        times.append((f"{len(rest)} more", sum(row.ns_per_step for row in rest)))
    shown = [(name, ns, color) for (name, ns), color in zip(times, _COLORS, strict=False)]
    whole = sum(ns for _, ns in times)
    if not shown:
        return ""
    cells = "".join(
        f'<span title="{escape(name)} {time_text(ns)}" style="display:inline-block;height:14px;width:{100 * ns / whole:.2f}%;'
        f'background:{color}"></span>'
        for name, ns, color in shown
    )
    labels = ", ".join(
        f'<span style="color:{color}">&#9632;</span> {escape(name)} {time_text(ns)} ({100 * ns / whole:.0f} %)' for name, ns, color in shown
    )
    return f'<div style="max-width:640px;white-space:nowrap;overflow:hidden;font-size:0">{cells}</div><p>{escape(lane.lane)}: {labels}</p>'


def _findings(findings) -> str:
    if not findings:
        return "<p>No findings.</p>"
    items = "".join(
        f"<li><b>{escape(finding.title)}</b>: {time_text(finding.cost_ns)} per step ({100 * finding.share:.0f} %). "
        f"{escape(finding.remedy)}</li>"
        for finding in findings[:_MOST_FINDINGS]
    )
    more = len(findings) - _MOST_FINDINGS
    return f"<ul>{items}</ul>" + (f"<p>{more} more findings: findings()</p>" if more > 0 else "")
