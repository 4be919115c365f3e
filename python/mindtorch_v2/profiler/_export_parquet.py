"""mtprof export to .parquet: the native program writes the tables, and pyarrow, if it is installed, makes Parquet files of them."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from mindtorch_v2._mtprof import find_program
from mindtorch_v2.profiler._parquet import require_pyarrow, write_parquet

_TEXTS = ("name", "key", "kind", "device", "device_type", "op_device", "input_shapes", "stack", "overload_name")
_TABLES = ("averages", "counters")


def _table_of(path: str) -> str:
    return next((table for table in _TABLES if path.endswith(f".{table}.parquet")), "events")


def _read(path: Path):
    """A table of the native program: numbers of 64 bits, texts as dictionaries, and null for what was not recorded."""
    import pyarrow
    import pyarrow.csv

    with open(path, newline="") as file:
        names = next(csv.reader(file))
    text = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
    return pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: text for name in names if name in _TEXTS},
            null_values=[""],
            strings_can_be_null=True,
            true_values=["true"],
            false_values=["false"],
        ),
    )


def _say(message: str) -> int:
    print(f"mtprof: {message}", file=sys.stderr)
    return 1


def _write(table: Path, path: str) -> str | None:
    """Returns what went wrong."""
    try:
        require_pyarrow(path)
        write_parquet(_read(table), path)
    except ImportError as error:
        return str(error)
    except OSError as error:
        return f"{path!r} cannot be written: {error.strerror or error}"
    return None


def main(argv: list[str]) -> int:
    """`argv` follows `mtprof export`; at least one of the files to write ends in .parquet."""
    program = find_program()
    if program is None:
        return _say("the native program mtprof is missing: this package was built without its tools")
    with tempfile.TemporaryDirectory() as folder:
        tables: dict[str, tuple[Path, str]] = {}

        def replaced(argument: str) -> str:
            match = re.fullmatch(r"(--output=|-o(?=.))?(.*\.parquet)", argument, re.DOTALL)
            if not match:
                return argument
            table = Path(folder) / f"{len(tables)}.{_table_of(match[2])}.csv"
            tables[str(table)] = (table, match[2])
            return f"{match[1] or ''}{table}"

        arguments = [replaced(argument) for argument in argv if argument != "--json"]
        done = subprocess.run([program, "export", *arguments, "--json"], capture_output=True, text=True, errors="replace")
        sys.stderr.write(done.stderr)
        if not done.stdout.startswith("{"):
            sys.stdout.write(done.stdout)
            return done.returncode
        written = json.loads(done.stdout)
        for file in written["files"]:
            if file["path"] not in tables:
                continue
            table, path = tables[file["path"]]
            if problem := _write(table, path):
                return _say(problem)
            file.update(path=path, bytes=os.path.getsize(path))
    if "--json" in argv:
        print(json.dumps(written))
    else:
        for file in written["files"]:
            print(f"{file['path']} ({file['bytes']} bytes, {written['events']} events)")
    return done.returncode
