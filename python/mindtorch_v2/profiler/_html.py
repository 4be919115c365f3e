"""Lists of events and averages as HTML tables, for notebooks."""

from html import escape

from mindtorch_v2._C import format_memory

_ROWS = 100  # as many as table() shows

_STYLE = """<style>
.mindtorch-profile { border-collapse: collapse; font: 12px/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
.mindtorch-profile th, .mindtorch-profile td { padding: 2px 10px; text-align: right; border: 0; white-space: nowrap; }
.mindtorch-profile th { position: sticky; top: 0; border-bottom: 1px solid #8888; font-weight: 600; }
.mindtorch-profile .text { text-align: left; font-family: ui-monospace, monospace; max-width: 36em; overflow: hidden;
  text-overflow: ellipsis; }
.mindtorch-profile tbody tr:hover { background: #8882; }
.mindtorch-profile caption { caption-side: bottom; text-align: left; padding: 6px 10px; opacity: .75; }
.mindtorch-profile .bar { background: linear-gradient(to right, #4c9be855 var(--share), transparent var(--share)); }
</style>"""


def _share(part, whole):
    return f"{100 * part / whole:.2f}%" if 0 <= part <= whole and whole else "--"


class Totals:
    """Sums of all rows that the shares of a table refer to; microseconds."""

    def __init__(self, rows):
        self.self_cpu = sum(row.self_cpu_time_total for row in rows)
        # Device work is there twice: as itself, and as what an op has launched. The span of an annotation is no work.
        self.self_device = sum(row.self_device_time_total for row in rows if row.device_type != "CPU" and not row.is_user_annotation)


class _Columns:
    """The columns of a table, each a header and a function from a row to the text and attributes of its cell."""

    def __init__(self, rows, totals, device, with_memory, with_flops):
        self._columns = []
        self._totals = totals
        self._add("Name", lambda row: row.key, text=True)
        self._add_cpu()
        if totals.self_device > 0:
            self._add_device(device.upper())
        if with_memory:
            self._add("CPU Mem", lambda row: format_memory(row.cpu_memory_usage))
            self._add("Self CPU Mem", lambda row: format_memory(row.self_cpu_memory_usage))
        if with_memory and any(row.device_memory_usage for row in rows):
            self._add(f"{device.upper()} Mem", lambda row: format_memory(row.device_memory_usage))
            self._add(f"Self {device.upper()} Mem", lambda row: format_memory(row.self_device_memory_usage))
        self._add("# of Calls", lambda row: f"{row.count:,}")
        if with_flops:
            self._add("FLOPs", lambda row: f"{row.flops:,}" if row.flops else "--")
        if any(row.input_shapes for row in rows):
            self._add("Input Shapes", lambda row: str(row.input_shapes or ""), text=True)
        if any(row.stack for row in rows):
            self._add("Source Location", lambda row: row.stack[0] if row.stack else "", text=True)

    def _add(self, header, cell, text=False, share=None):
        self._columns.append((header, cell, text, share))

    def _add_cpu(self):
        whole = self._totals.self_cpu
        self._add(
            "Self CPU %", lambda row: _share(row.self_cpu_time_total, whole), share=lambda row: row.self_cpu_time_total / (whole or 1)
        )
        self._add("Self CPU", lambda row: row.self_cpu_time_total_str)
        self._add("CPU total", lambda row: row.cpu_time_total_str)
        self._add("CPU time avg", lambda row: row.cpu_time_str)

    def _add_device(self, name):
        whole = self._totals.self_device
        self._add(f"Self {name} %", lambda row: _share(row.self_device_time_total, whole))
        self._add(f"Self {name}", lambda row: row.self_device_time_total_str)
        self._add(f"{name} total", lambda row: row.device_time_total_str)
        self._add(f"{name} time avg", lambda row: row.device_time_str)

    def head(self):
        cells = (f'<th class="{"text" if text else ""}">{escape(header)}</th>' for header, _, text, _ in self._columns)
        return f"<thead><tr>{''.join(cells)}</tr></thead>"

    def line(self, row):
        cells = []
        for _, cell, text, share in self._columns:
            content = escape(cell(row))
            if text:
                cells.append(f'<td class="text" title="{content}">{content}</td>')
            elif share:
                cells.append(f'<td class="bar" style="--share: {100 * max(0.0, share(row)):.1f}%">{content}</td>')
            else:
                cells.append(f"<td>{content}</td>")
        return f"<tr>{''.join(cells)}</tr>"


def table(rows, totals, caption, device, with_memory, with_flops):
    """The first of the rows as a table, and how many more there are."""
    shown = list(rows[:_ROWS])
    columns = _Columns(shown, totals, device or "device", with_memory, with_flops)
    lines = "\n".join(columns.line(row) for row in shown)
    more = f"{len(rows) - len(shown):,} more rows are not shown. " if len(rows) > len(shown) else ""
    return (
        f'{_STYLE}\n<table class="mindtorch-profile">\n<caption>{escape(more + caption)}</caption>\n'
        f"{columns.head()}\n<tbody>\n{lines}\n</tbody>\n</table>"
    )
