"""A report of a million events against Holistic Trace Analysis on the same trace: time per event, and the time and memory of a report.

Prints one JSON object per line, as benchmarks/harness.h does. Ratio = our time / HTA's. Ours is `mtprof report`: it reads the trace and
writes the page. HTA's is reading the trace, and those of its answers that the page has too: time by kind of device work, kernels, idle
time, launches, work in the queue, collectives beside kernels, and steps. Without HTA it says so and measures ours.
"""

import contextlib
import gzip
import importlib.util
import io
import json
import logging
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

EVENTS = 1_000_000
ROUNDS = 5
LIMIT_S, LIMIT_MB = 2, 1000  # of a report of a million events


def report(name, ours, unit, note, theirs=None):
    ratio = None if theirs is None else ours / theirs
    line = {"name": f"report/{name}", "ours": ours, "peer": "HTA" if theirs else "", "peer_value": theirs, "ratio": ratio, "unit": unit}
    print(json.dumps({**line, "note": note}), flush=True)


def training(events):
    """Chrome trace events of a training loop on one GPU, as torch.profiler writes them: ops, launches, kernels, steps."""
    rng, now, busy, made, correlation, step = random.Random(7), 1000.0, 0.0, [], 0, 0
    names = [f"aten::operator_{k}" for k in range(200)]
    while len(made) < events:
        begin = now
        for _ in range(600):
            correlation += 1
            name, duration, kernel_us = rng.choice(names), 12 + 6 * rng.random(), 4 + 12 * rng.random()
            busy = max(busy, now + 9) + kernel_us
            host, device = {"ph": "X", "pid": 77, "tid": 77}, {"ph": "X", "pid": 0, "tid": 7}
            arguments = {"External id": correlation, "Sequence number": correlation, "Fwd thread id": 0, "Ev Idx": len(made)}
            link = {"External id": correlation, "correlation": correlation}
            made.append({**host, "cat": "cpu_op", "name": name, "ts": round(now, 3), "dur": round(duration, 3), "args": arguments})
            launch = {"cbid": 211, **link}
            made.append({**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": round(now + 4, 3), "dur": 3.2, "args": launch})
            where = {"device": 0, "context": 1, "stream": 7, **link, "grid": [64, 1, 1], "block": [128, 1, 1]}
            start = round(busy - kernel_us, 3)
            made.append(
                {**device, "cat": "kernel", "name": f"void kernel_of_{name}<4>", "ts": start, "dur": round(kernel_us, 3), "args": where}
            )
            now += duration + 1
        span = {"name": f"ProfilerStep#{step}", "ts": round(begin, 3), "dur": round(now - begin, 3), "args": {}}
        made.append({"ph": "X", "pid": 77, "tid": 77, "cat": "user_annotation", **span})
        step += 1
        now += 2
    return made


def write_traces(trace, packed):
    """Writes the trace, plain and compressed, and prints the number of its events."""
    events = training(EVENTS)
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}], "distributedInfo": {"rank": 0}}
    # HTA finds the rank in the text, with the blank that Python's json writes.
    trace.write_text(json.dumps({**head, "traceEvents": events}))
    packed.write_bytes(gzip.compress(trace.read_bytes(), 3))
    print(len(events))


def run_report(program, trace, page):
    """Seconds and megabytes of one report."""
    began = time.perf_counter()
    child = subprocess.Popen([program, "report", trace, "-o", page, "--quiet"])
    _, status, usage = os.wait4(child.pid, 0)
    taken = time.perf_counter() - began
    if status:
        sys.exit(f"mtprof report failed: {status}")
    return taken, usage.ru_maxrss / 1000


def hta_seconds(trace):
    """Reading, and the answers that a report has too."""
    logging.disable(logging.WARNING)
    from hta.trace_analysis import TraceAnalysis

    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        analysis = TraceAnalysis(trace_files={0: str(trace)}, include_last_profiler_step=True)
        analysis.get_temporal_breakdown(visualize=False)
        analysis.get_gpu_kernel_breakdown(visualize=False)
        analysis.get_idle_time_breakdown(ranks=[0], visualize=False)
        analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)
        analysis.get_queue_length_summary(ranks=[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it divides by the time of collectives, of which there are none
            analysis.get_comm_comp_overlap(visualize=False)
        analysis.get_profiler_steps()
    return time.perf_counter() - began


def main():
    program = Path(os.environ["MINDTORCH_BUILD_DIR"]) / "bin" / "mtprof"
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=in_memory) as name:
        folder = Path(name)
        trace, packed, recording, page = (folder / name for name in ("trace.json", "trace.json.gz", "trace.mtrec", "page.html"))
        # In a process of its own: the peak that the kernel tells of a child contains what its parent held when it was started.
        made = subprocess.run([sys.executable, __file__, trace, packed], check=True, capture_output=True, text=True)
        count = int(made.stdout)
        subprocess.run([program, "export", trace, "-o", recording], check=True, capture_output=True)
        measured = {file: [run_report(program, file, page) for _ in range(ROUNDS)] for file in (trace, packed, recording)}
        megabytes = trace.stat().st_size / 1e6
        theirs, note = None, "HTA is not installed (./dev test --torch installs it)"
        if importlib.util.find_spec("hta") is not None:
            theirs, note = hta_seconds(trace), "reading a trace of torch.profiler and writing the page; HTA: reading and seven answers"
        page_mb = page.stat().st_size / 1e6
    seconds = {file: statistics.median(taken for taken, _ in rounds) for file, rounds in measured.items()}
    memory = max(peak for rounds in measured.values() for _, peak in rounds)
    per_event = 1e9 / count
    report("ns_per_event", seconds[trace] * per_event, "ns", f"{count} events: {note}", None if theirs is None else theirs * per_event)
    report("gzip_ns_per_event", seconds[packed] * per_event, "ns", "the same from .json.gz")
    report("recording_ns_per_event", seconds[recording] * per_event, "ns", "the same from a recording (.mtrec)")
    report("seconds", seconds[trace], "s", f"limit {LIMIT_S} s; {megabytes:.0f} MB of JSON, a page of {page_mb:.1f} MB")
    report("memory", memory, "MB", f"limit {LIMIT_MB} MB; the most memory that any of the reports held")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        write_traces(*map(Path, sys.argv[1:]))
    else:
        main()
