"""The ranks of a job: ours against Holistic Trace Analysis on the same eight traces, and how our time grows with the number of ranks.

Both sides read the files and answer what both can: what the device of each rank did (idle, compute, the rest), and how much of its
communication is hidden. The answers must be equal within the rounding of microseconds. Prints one JSON object per line, as
benchmarks/harness.h does. Ratio = our time / theirs. Without Holistic Trace Analysis it says so.
"""

import importlib.util
import json
import logging
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ["MINDTORCH_BUILD_DIR"])
sys.path.insert(0, str(ROOT / "tests" / "support"))

from job_traces import Job  # noqa: E402

TRACES, STEPS, OPS = 8, 40, 400
MANY = (64, 1024)
ROUNDS = 7


def report(name, ours, peer, peer_value, unit, note):
    ratio = None if ours is None or peer_value is None else ours / peer_value
    line = {"name": f"ranks/{name}", "ours": ours, "peer": peer, "peer_value": peer_value, "ratio": ratio, "unit": unit, "note": note}
    print(json.dumps(line), flush=True)


def timed(work):
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def our_answer(folder):
    command = [BUILD / "bin" / "mtprof", "ranks", folder, "--json"]
    answer = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    rows = {}
    for rank in answer["ranks"]:
        (device,) = rank["devices"]
        span, idle, compute = (device[key] / 1000 for key in ("span_ns", "idle_ns", "compute_ns"))
        overlap = 100 * device["overlap_ns"] / device["communication_ns"]
        rows[rank["rank"]] = (idle, compute, span - idle - compute, overlap)
    return rows


def their_answer(folder):
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_dir=str(folder), include_last_profiler_step=True)
    breakdown = analysis.get_temporal_breakdown(visualize=False).set_index("rank")
    overlap = analysis.get_comm_comp_overlap(visualize=False).set_index("rank")
    names = ("idle_time(us)", "compute_time(us)", "non_compute_time(us)")
    return {rank: (*(breakdown.loc[rank, name] for name in names), overlap.loc[rank, "comp_comm_overlap_pctg"]) for rank in breakdown.index}


def largest_difference(ours, theirs):
    """Relative to the span of the device, and of the overlap in percent points."""
    assert set(ours) == set(theirs)
    worst = 0.0
    for rank, row in ours.items():
        span = sum(row[:3])
        worst = max(
            worst, *(abs(a - b) / span for a, b in zip(row[:3], theirs[rank][:3], strict=True)), abs(row[3] - theirs[rank][3]) / 100
        )
    return worst


def compare_with_hta(folder):
    if importlib.util.find_spec("hta") is None:
        report("eight_traces", None, "hta", None, "s", "HolisticTraceAnalysis is not installed (./dev test --torch installs it)")
        return
    os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    their_answer(folder)  # imports
    pairs = [(timed(lambda: our_answer(folder)), timed(lambda: their_answer(folder))) for _ in range(ROUNDS)]
    ours, theirs = (statistics.median(pair[side][0] for pair in pairs) for side in (0, 1))
    difference = largest_difference(pairs[0][0][1], pairs[0][1][1])
    megabytes = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
    report("eight_traces", ours, "hta", theirs, "s", f"{megabytes:.0f} MB; answers differ by {difference:.2g} at most")


def ranks_from_few(few, many, folder):
    """A job of `many` ranks, each a copy of one of the recordings with a rank and a clock of its own."""
    folder.mkdir()
    sources = [json.loads(path.read_text()) for path in sorted(few.iterdir())]
    for rank in range(many):
        trace = sources[rank % len(sources)]
        trace["distributedInfo"].update(rank=rank, world_size=many)
        for event in trace["traceEvents"]:
            event["ts"] += 1000.0  # each copy is a millisecond later on its own clock
        (folder / f"rank{rank}.json").write_text(json.dumps(trace))


def how_time_grows(few, folder):
    times = {}
    for many in MANY:
        ranks_from_few(few, many, folder / str(many))
        command = ["/usr/bin/env", "python3", "-c", MEASURE, str(BUILD / "bin" / "mtprof"), str(folder / str(many))]
        times[many] = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        shutil.rmtree(folder / str(many))
    few_ranks, many_ranks = (times[many]["seconds"] / many * 1000 for many in MANY)
    report(f"{MANY[1]}_ranks", many_ranks, f"{MANY[0]} ranks", few_ranks, "ms/rank", f"{times[MANY[1]]['seconds']:.2f} s in total")
    growth = (times[MANY[1]]["kilobytes"] - times[MANY[0]]["kilobytes"]) / (MANY[1] - MANY[0]) / 1024
    report("memory_per_rank", growth, "limit", 1.0, "MiB", f"{times[MANY[1]]['kilobytes'] / 1024:.0f} MiB at most with {MANY[1]} ranks")


MEASURE = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
subprocess.run([sys.argv[1], "ranks", sys.argv[2], "--json"], stdout=subprocess.DEVNULL, check=True)
print(json.dumps({"seconds": time.perf_counter() - began, "kilobytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}))
"""


def main():
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=in_memory) as name:
        eight = Path(name) / "eight"
        eight.mkdir()
        Job(ranks=TRACES, steps=STEPS, ops=OPS, slow=3, gpu=True).write(eight)
        compare_with_hta(eight)
        small = Path(name) / "small"
        small.mkdir()
        Job(ranks=TRACES, steps=10, ops=50, slow=3).write(small)
        how_time_grows(small, Path(name))


if __name__ == "__main__":
    main()
