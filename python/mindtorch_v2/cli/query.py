"""mtprof query: SQL about a recording, with DuckDB."""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import math
import sys

from mindtorch_v2.cli.program import Problem, shown
from mindtorch_v2.profiler._tables import Tables
from mindtorch_v2.profiler.recording import load


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="mtprof query",
        description="Asks a recording or a trace in SQL. Tables: events, steps, counters, samples, efficiency; docs/report.md describes "
        "their columns.",
    )
    parser.add_argument("file", help="a recording or a Chrome trace")
    parser.add_argument("sql", help="such as: select name, sum(self_cpu_time_ns) from events group by name order by 2 desc limit 5")
    parser.add_argument("--allow-files", action="store_true", help="let the SQL read and write files, and load extensions of DuckDB")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--csv", action="store_true", help="print the answer as CSV")
    output.add_argument("--json", action="store_true", help="print the answer as a list of JSON objects")
    options = parser.parse_args(argv)
    recording = load(options.file)
    if damage := recording.damage:
        print(f"mtprof: {shown(options.file)} is damaged: {shown(damage)}", file=sys.stderr)
    try:
        tables = Tables(recording, allow_files=options.allow_files)
    except ImportError as error:
        raise Problem(str(error)) from error
    try:
        _print(tables.database.sql(options.sql), options)
    except tables.Error as error:
        hint = "; --allow-files permits it" if "file system operations are disabled" in str(error) else ""
        raise Problem(f"{error}{hint}") from error
    return 1 if damage else 0


def _print(answer, options) -> None:
    if answer is None:  # not a question
        return
    if options.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows([_cell(value) for value in row] for row in answer.fetchall())
    elif options.json:
        names = _names(answer.columns)
        rows = [dict(zip(names, map(_json_value, row), strict=True)) for row in answer.fetchall()]
        print(json.dumps(rows, default=str, allow_nan=False))
    else:
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            answer.show(max_width=200, max_rows=10_000)
        print(shown(text.getvalue()), end="")


def _cell(value):
    """A text as the CSV files of `mtprof export` have it: spreadsheets run what begins like a formula."""
    if not isinstance(value, str):
        return value
    return shown(f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else value)


def _names(columns: list[str]) -> list[str]:
    """A name for each column of the answer: a second "a" is "a_2"."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def _json_value(value):
    """JSON has no number for nan and infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    return value
