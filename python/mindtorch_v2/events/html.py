"""Lists of events and averages as HTML tables, for notebooks."""

import re
from collections.abc import Callable
from html import escape
from typing import NamedTuple

from mindtorch_v2._C import format_memory

_ROWS = 100  # as many as table() shows
_NOTHING = {"--", "0 B", "0.000us", "0.00%"}

# "prog.py(20): step" or "prog.py:20:step", in any folder: the file, the line and the function.
_FRAME = re.compile(r"(?:.*[/\\])?(.+?)[(:](\d+)(?:\): |:)(.*)", re.DOTALL)

# The page may be light or dark: colours are transparent, and the header blurs the rows that pass under it. Notebooks are shown in quirks
# mode, in which a table inherits no font, and some make the columns of all tables equally wide.
#
# Headers are broken into lines and texts are cut, so that a table of the CPU fits a notebook of 900 px with a scroll bar. A table with
# several texts is wide: numbers take what they need, and texts, which ask for no width of their own (max-width: 0), share the rest.
_STYLE = """<style>
.mindtorch-profile { font: 12px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.mindtorch-profile div { max-height: 36em; overflow: auto; }
.mindtorch-profile table { font: inherit; table-layout: auto; border-collapse: separate; border-spacing: 0; margin: 0; }
.mindtorch-profile th, .mindtorch-profile td { padding: 2px 4px; text-align: right; border: 0; white-space: nowrap; }
.mindtorch-profile th { position: sticky; top: 0; z-index: 1; border-bottom: 1px solid #8888; font-weight: 600;
  vertical-align: bottom; white-space: normal; backdrop-filter: blur(12px); }
.mindtorch-profile .text { text-align: left; max-width: 26em; overflow: hidden; text-overflow: ellipsis; }
.mindtorch-profile .wide { width: 100%; }
.mindtorch-profile .wide .text { width: 40%; min-width: 8em; max-width: 0; }
.mindtorch-profile .wide .shapes { width: 20%; min-width: 4em; }
.mindtorch-profile td.text { font-family: ui-monospace, monospace; }
.mindtorch-profile .none { opacity: .35; }
.mindtorch-profile tbody tr:hover { background: #8882; }
.mindtorch-profile .bar { background: linear-gradient(to right, #4c9be855 var(--share), transparent var(--share)); }
.mindtorch-profile .device.bar { background: linear-gradient(to right, #e8994c66 var(--share), transparent var(--share)); }
.mindtorch-profile p { margin: 0; padding: 6px 10px; opacity: .75; }
</style>"""


def _share(part, whole):
    return f"{100 * part / whole:.2f}%" if 0 <= part <= whole and whole else "--"


def _flops_text(flops):
    """A number with a unit, as short as times and bytes are."""
    value, units = float(flops or 0), ["", " K", " M", " G", " T", " P"]
    while float(f"{value:.4g}") >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.4g}{units[0]}" if value else "--"


def _place(frame):
    """A frame in little space: its file without the folders, its line and its function."""
    parts = _FRAME.fullmatch(frame)
    return "{}({}): {}".format(*parts.groups()) if parts else frame


class _Column(NamedTuple):
    """A header, and functions from a row to the text, the whole text and the share (0 to 1) that its cell shows."""

    header: str
    cell: Callable
    kind: str = ""
    whole: Callable | None = None
    share: Callable | None = None

    @property
    def is_text(self):
        return self.kind.startswith("text")

    def th(self):
        return f'<th class="{self.kind if self.is_text else ""}">{escape(self.header)}</th>'

    def td(self, row):
        content = escape(self.cell(row))
        kind = f"{self.kind} none" if content in _NOTHING else self.kind
        if self.whole:
            return f'<td class="{kind}" title="{escape(self.whole(row))}">{content}</td>'
        if self.share:
            return f'<td class="{kind}" style="--share: {100 * max(0.0, self.share(row)):.1f}%">{content}</td>'
        return f'<td class="{kind}">{content}</td>'


class Totals:
    """Sums of all rows that the shares of a table refer to; microseconds."""

    def __init__(self, rows):
        self.self_cpu = sum(row.self_cpu_time_total for row in rows)
        # Device work is there twice: as itself, and as what an op has launched. The span of an annotation is no work.
        self.self_device = sum(row.self_device_time_total for row in rows if row.device_type != "CPU" and not row.is_user_annotation)


def _columns(rows, totals, device, with_memory, with_flops):
    name = device.upper()
    yield _Column("Name", lambda row: row.key, "text", whole=lambda row: row.key)
    yield from _times("CPU", "cpu", totals.self_cpu, "bar")
    if totals.self_device > 0:
        yield from _times(name, "device", totals.self_device, "device bar")
    if with_memory:
        yield from _memory("CPU", "cpu")
    if with_memory and any(row.device_memory_usage for row in rows):
        yield from _memory(name, "device")
    yield _Column("# of Calls", lambda row: f"{row.count:,}")
    if with_flops:
        yield _Column("FLOPs", lambda row: _flops_text(row.flops), whole=lambda row: f"{row.flops or 0:,}")
    if any(row.input_shapes for row in rows):
        yield _Column("Input Shapes", lambda row: str(row.input_shapes or ""), "text shapes", whole=lambda row: str(row.input_shapes or ""))
    if any(row.stack for row in rows):
        yield _Column(
            "Source Location", lambda row: _place(row.stack[0]) if row.stack else "", "text", whole=lambda row: "\n".join(row.stack or ())
        )


def _times(name, field, total, kind):
    def own(row):
        return getattr(row, f"self_{field}_time_total")

    yield _Column(f"Self {name} %", lambda row: _share(own(row), total), kind, share=lambda row: own(row) / (total or 1))
    yield _Column(f"Self {name}", lambda row: getattr(row, f"self_{field}_time_total_str"))
    yield _Column(f"{name} total", lambda row: getattr(row, f"{field}_time_total_str"))
    yield _Column(f"{name} time avg", lambda row: getattr(row, f"{field}_time_str"))


def _memory(name, field):
    yield _Column(f"{name} Mem", lambda row: format_memory(getattr(row, f"{field}_memory_usage")))
    yield _Column(f"Self {name} Mem", lambda row: format_memory(getattr(row, f"self_{field}_memory_usage")))


def table(rows, totals, caption, device, with_memory, with_flops):
    """The first of the rows as a table, and how many more there are."""
    shown = list(rows[:_ROWS])
    columns = list(_columns(shown, totals, device or "device", with_memory, with_flops))
    head = "".join(column.th() for column in columns)
    is_wide = sum(column.is_text for column in columns) > 1
    lines = "\n".join(f"<tr>{''.join(column.td(row) for column in columns)}</tr>" for row in shown)
    more = f"{len(rows) - len(shown):,} more rows are not shown. " if len(rows) > len(shown) else ""
    below = more + (caption or "No events were recorded.")
    return (
        f'{_STYLE}\n<div class="mindtorch-profile">\n<div><table class="{"wide" if is_wide else ""}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{lines}\n</tbody>\n</table></div>\n<p>{escape(below)}</p>\n</div>"
    )
