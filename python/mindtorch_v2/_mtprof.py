"""The command `mtprof` of an installed package: runs the program inside the package, or the commands that are written in Python."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

# Commands, and the modules of mindtorch_v2.profiler that hold them.
_IN_PYTHON = {"run": "_run", "query": "_query", "doctor": "_doctor", "trigger": "_trigger", "live": "_live"}


def find_program() -> Path | None:
    """The native program: the one that called Python, the one inside the package, or the one of the build tree that the package is in."""
    package = Path(__file__).parent.absolute()
    for path in (os.environ.get("MINDTORCH_MTPROF"), package / "bin" / "mtprof", package.parent.parent / "bin" / "mtprof"):
        if path and Path(path).is_file():
            return Path(path)
    return None


def main(argv: list[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] and argv[0] in _IN_PYTHON:
        return import_module(f"mindtorch_v2.profiler.{_IN_PYTHON[argv[0]]}").main(argv[1:])
    if argv[:1] == ["ranks"] and any(argument.split("=")[0] == "--scheduler" for argument in argv):
        return import_module("mindtorch_v2.fleet._command").main(argv[1:])
    if argv[:1] == ["export"] and any(argument.endswith(".parquet") for argument in argv):
        return import_module("mindtorch_v2.profiler._export_parquet").main(argv[1:])
    program = find_program()
    if program is None:
        print("mtprof: the native program is missing: this package was built without its tools (MINDTORCH_BUILD_TOOLS)", file=sys.stderr)
        return 1
    os.execv(program, ["mtprof", *argv])
