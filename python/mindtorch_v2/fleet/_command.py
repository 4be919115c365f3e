"""mtprof ranks --scheduler ADDRESS: the same command, with the files read by a Dask cluster."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from mindtorch_v2 import _C
from mindtorch_v2.fleet._dask import summarize_on

# Options that the command itself gets as they are; it says what they mean (mtprof ranks --help).
_WITH_VALUE = ("-o", "--output", "--limit", "--summaries", "--merge", "--merge-ranks", "--merge-steps", "--max-memory", "--threads")
_FLAGS = ("--json",)


def _parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The folders and the scheduler, and all other options."""
    parser = argparse.ArgumentParser("mtprof ranks", description="The ranks of a job, summarised by a Dask cluster.", allow_abbrev=False)
    parser.add_argument("paths", nargs="+", metavar="FOLDER", help="a folder with a recording or a Chrome trace of each rank, or the files")
    parser.add_argument("--scheduler", required=True, metavar="ADDRESS", help="of a Dask scheduler, such as tcp://host:8786")
    others: list[str] = []

    class Keep(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            others.extend([option_string, values] if isinstance(values, str) else [option_string])

    for name in _WITH_VALUE:
        parser.add_argument(name, action=Keep, dest=argparse.SUPPRESS, help=argparse.SUPPRESS)
    for name in _FLAGS:
        parser.add_argument(name, action=Keep, nargs=0, dest=argparse.SUPPRESS, help=argparse.SUPPRESS)
    return parser.parse_args(argv), others


def main(argv: list[str]) -> int:
    arguments, others = _parse(argv)
    try:
        summaries = summarize_on(arguments.scheduler, arguments.paths)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"mtprof: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{Path(arguments.paths[0]).resolve().name}.mtsum"  # the title of a page is the name of the file
        path.write_bytes(summaries)
        return _C.run_program(["ranks", str(path), *others])
