"""mtprof ranks --scheduler ADDRESS: the same command, with the files read by a Dask cluster."""

from __future__ import annotations

import argparse
import json
import sys

from mindtorch_v2.fleet._job import analyze

_FAILURES = ("unreadable", "damaged", "missing")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("mtprof ranks", description="The ranks of a job, summarised by a Dask cluster.")
    parser.add_argument("paths", nargs="+", metavar="FOLDER", help="a folder with a recording or a Chrome trace of each rank, or the files")
    parser.add_argument("--scheduler", required=True, metavar="ADDRESS", help="of a Dask scheduler, such as tcp://host:8786")
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    arguments = parser.parse_args(argv)
    try:
        job = analyze(arguments.paths, scheduler=arguments.scheduler)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"mtprof: {error}", file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps(job.answer))
    else:
        print(job)
        for straggler in job.stragglers:
            ops = ", ".join(f"{op['name']} {op['seconds_lost']:.3f} s" for op in straggler["ops"][:3])
            print(f"Others wait for rank {straggler['rank']}: {straggler['seconds_lost']:.3f} s lost ({ops})")
        for fault in job.faults:
            print(f"! rank {fault['rank']}, {fault['file']}: {fault['text']}")
    return 1 if any(fault["kind"] in _FAILURES for fault in job.faults) else 0
