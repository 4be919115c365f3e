"""mtprof query: SQL about a recording, with DuckDB."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from mindtorch_v2._mtprof import find_program

# The types of the columns, which a small file might not show.
_COUNTER_TYPES = {"name": "VARCHAR", "unit": "VARCHAR", "device": "VARCHAR", "time_ns": "BIGINT", "value": "DOUBLE"}
_EVENT_TYPES = {
    "id": "BIGINT",
    "name": "VARCHAR",
    "kind": "VARCHAR",
    "device_type": "VARCHAR",
    "op_device": "VARCHAR",
    "step": "BIGINT",
    "start_ns": "BIGINT",
    "duration_ns": "BIGINT",
    "thread": "BIGINT",
    "thread_id": "BIGINT",
    "sequence_nr": "BIGINT",
    "parent_id": "BIGINT",
    "self_cpu_time_ns": "BIGINT",
    "device_time_ns": "BIGINT",
    "self_device_time_ns": "BIGINT",
    "memory_allocated_before": "BIGINT",
    "memory_allocated_after": "BIGINT",
    "flops": "BIGINT",
    "input_shapes": "VARCHAR",
    "stack": "VARCHAR",
    "is_async": "BOOLEAN",
}


class QueryError(Exception):
    """What went wrong, and what to do about it."""


def connect(recording: str | Path):
    """A DuckDB connection with the tables `events`, `steps` and `counters` of a recording or trace."""
    try:
        import duckdb
    except ImportError as error:
        raise QueryError("DuckDB is not installed; install it: pip install duckdb") from error
    with tempfile.TemporaryDirectory() as folder:
        database = duckdb.connect()
        for table, types in (("events", _EVENT_TYPES), ("counters", _COUNTER_TYPES)):
            file = Path(folder) / f"all.{table}.csv"
            _native("export", recording, "-o", file)
            options = {"header": True, "dtype": types, "quotechar": '"', "escapechar": '"', "parallel": False}
            database.read_csv(str(file), **options).create(table)
    steps = json.loads(_native("info", recording, "--json"))["steps"]
    database.execute("CREATE TABLE steps (number BIGINT, start_ns BIGINT, duration_ns BIGINT, events BIGINT, device_ns BIGINT)")
    rows = [[step[name] for name in ("number", "start_ns", "duration_ns", "events", "device_ns")] for step in steps]
    if rows:
        database.executemany("INSERT INTO steps VALUES (?, ?, ?, ?, ?)", rows)
    return database


def _native(*arguments) -> str:
    program = find_program()
    if program is None:
        raise QueryError("the native program mtprof is missing: this package was built without its tools")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, errors="replace")
    if done.returncode != 0 and not done.stdout:
        raise QueryError(done.stderr.strip().removeprefix("mtprof: "))
    return done.stdout


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="mtprof query",
        description="Asks a recording or a trace in SQL. Tables: events, steps, counters; their columns are described in docs/report.md.",
    )
    parser.add_argument("file", help="a recording or a Chrome trace")
    parser.add_argument("sql", help="such as: select name, sum(self_cpu_time_ns) from events group by name order by 2 desc limit 5")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--csv", action="store_true", help="print the answer as CSV")
    output.add_argument("--json", action="store_true", help="print the answer as a list of JSON objects")
    options = parser.parse_args(argv)
    try:
        answer = connect(options.file).sql(options.sql)
        _print(answer, options)
    except QueryError as error:
        print(f"mtprof: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # of DuckDB: a mistake in the question
        if not type(error).__module__.startswith(("duckdb", "_duckdb")):
            raise
        print(f"mtprof: {error}", file=sys.stderr)
        return 1
    return 0


def _print(answer, options) -> None:
    if answer is None:  # not a question
        return
    if options.csv:
        import csv

        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(answer.columns)
        writer.writerows(answer.fetchall())
    elif options.json:
        print(json.dumps([dict(zip(answer.columns, row, strict=True)) for row in answer.fetchall()], default=str))
    else:
        answer.show(max_width=200, max_rows=10_000)
