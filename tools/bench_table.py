"""Reads benchmark results, one JSON object per line, from standard input and prints them as a table; other lines pass through."""

import json
import sys

HEADER = ("name", "ours", "unit", "peer", "peer value", "ratio", "note")


def number(value):
    """Formats a value with four significant digits, or as a whole number from 1000 on."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def row(result):
    return (
        result["name"],
        number(result["ours"]),
        result.get("unit", ""),
        result.get("peer") or "-",
        number(result.get("peer_value")),
        number(result.get("ratio")),
        result.get("note", ""),
    )


def print_table(rows):
    widths = [max(len(line[i]) for line in rows) for i in range(len(HEADER))]
    numeric = {HEADER.index(name) for name in ("ours", "peer value", "ratio")}
    for line in rows:
        cells = (cell.rjust(width) if i in numeric else cell.ljust(width) for i, (cell, width) in enumerate(zip(line, widths, strict=True)))
        print("  ".join(cells).rstrip())


def main():
    rows = [HEADER]
    for line in sys.stdin:
        if line.startswith("{"):
            rows.append(row(json.loads(line)))
        elif line.strip():
            print(line, end="", file=sys.stderr)
    print_table(rows)


if __name__ == "__main__":
    main()
