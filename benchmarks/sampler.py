"""The sampler of Python threads against py-spy on five programs: the time that it adds, and how far its shares are from the truth.

Prints one JSON object per line, as benchmarks/harness.h does. Each program does the same work in every run and measures how long its parts
take. Both samplers look 500 times a second. "cost" is the time of the work with a sampler, divided by that without. "error" is the largest
distance, in percent of the program's time, between the measured share of a part and the share that a sampler gives to its function. Without
py-spy (pip install py-spy) only ours is measured.
"""

import csv
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 5
INTERVAL_MS = 2

# Parts of programs: each is a function that is called by its name, and timed.
_COMMON = """
import gc, json, os, sys, threading, time

def spin(count):
    total = 0
    for number in range(count): total += number & 7
    return total

parts = {}
def timed(part, *arguments):
    begin = time.perf_counter()
    part(*arguments)
    parts[part.__name__] = parts.get(part.__name__, 0) + time.perf_counter() - begin
"""

_PROGRAMS = {
    "two functions": """
def long_part(): spin(300_000)
def short_part(): spin(100_000)
def work():
    for _ in range(40):
        timed(long_part); timed(short_part)
""",
    "many calls": """
def add(a, b): return a + b
def fibonacci(n): return n if n < 2 else add(fibonacci(n - 1), fibonacci(n - 2))
def recursion(): fibonacci(19)
def text(): ",".join(str(number) for number in range(30_000))
def work():
    for _ in range(60):
        timed(recursion); timed(text)
""",
    "sleeping": """
def sleeps(): time.sleep(0.012)
def computes(): spin(100_000)
def work():
    for _ in range(60):
        timed(sleeps); timed(computes)
""",
    "waiting for a thread": """
def holds(lock, taken):
    with lock:
        taken.set()
        spin(200_000)
def waits():
    lock, taken = threading.Lock(), threading.Event()
    thread = threading.Thread(target=holds, args=(lock, taken))
    thread.start(); taken.wait()
    with lock: pass
    thread.join()
def alone(): spin(150_000)
def work():
    for _ in range(40):
        timed(waits); timed(alone)
""",
    "collecting garbage": """
nodes = [[number] for number in range(200_000)]
def collects(): gc.collect()
def computes(): spin(150_000)
def work():
    for _ in range(40):
        timed(collects); timed(computes)
""",
}

_END = f"""
if os.environ.get("SAMPLES"):
    from mindtorch_v2.profiler import profile
    prof = profile(sampling_interval_ms={INTERVAL_MS})
    prof.start()
begin = time.perf_counter()
work()
seconds = time.perf_counter() - begin
if os.environ.get("SAMPLES"):
    prof.stop()
    prof.export_trace(os.environ["SAMPLES"])
print(json.dumps({{"seconds": seconds, "parts": parts}}))
"""


def line(name, ours, theirs, unit, note):
    ratio = ours / theirs if theirs else None
    said = {"name": f"sampler/{name}", "ours": ours, "peer": "py-spy" if theirs is not None else "", "peer_value": theirs}
    print(json.dumps({**said, "ratio": ratio, "unit": unit, "note": note}), flush=True)


def run(command, **environment):
    package = Path(importlib.util.find_spec("mindtorch_v2").origin).parent.parent
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(package), **environment}
    )
    return json.loads(next(text for text in done.stdout.splitlines() if text.startswith("{")))  # py-spy writes to the same place


def shares_of_ours(file, parts):
    with open(file, newline="") as table:
        rows = [row for row in csv.DictReader(table) if any(f":{part}" in row["stack"] for part in parts) and ":work" in row["stack"]]
    times = {part: sum(int(row["duration_ns"]) for row in rows if f':{part}"' in row["stack"]) / 1e9 for part in parts}
    return times


def shares_of_py_spy(file, parts):
    times = dict.fromkeys(parts, 0.0)
    for text in Path(file).read_text().splitlines():
        stack, _, count = text.rpartition(" ")
        for part in parts:
            if f";{part} (" in stack and ";work (" in stack:
                times[part] += int(count) * INTERVAL_MS / 1e3
    return times


def error(said, times):
    """The largest distance between the shares of parts, in percent."""
    whole, measured = sum(times.values()) or 1, sum(said["parts"].values())
    return max(abs(times[part] / whole - seconds / measured) * 100 for part, seconds in said["parts"].items())


def measure(name, program, folder):
    path, file = folder / "program.py", folder / "r.samples.plain.csv"
    path.write_text(_COMMON + program + _END)
    python, spy = [sys.executable, str(path)], shutil.which("py-spy") or shutil.which("py-spy", path=str(Path(sys.executable).parent))
    plain, ours, theirs, our_errors, their_errors = [], [], [], [], []
    for _ in range(ROUNDS):  # in turns, so that all see the same machine
        plain.append(run(python)["seconds"])
        said = run(python, SAMPLES=str(file))
        ours.append(said["seconds"])
        our_errors.append(error(said, shares_of_ours(file, said["parts"])))
        if spy:
            raw = folder / "spy.txt"
            options = ["record", "--rate", str(1000 // INTERVAL_MS), "--idle", "--format", "raw", "--output", str(raw)]
            said = run([spy, *options, "--", *python])
            theirs.append(said["seconds"])
            their_errors.append(error(said, shares_of_py_spy(raw, said["parts"])))
    base, note = statistics.median(plain), f"{name}, {INTERVAL_MS} ms"
    cost = statistics.median(ours) / base
    line(f"cost/{name}", cost, statistics.median(theirs) / base if theirs else None, "x", f"time of the work, without a sampler 1; {note}")
    line(f"error/{name}", statistics.median(our_errors), statistics.median(their_errors) if theirs else None, "percentage points", note)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, program in _PROGRAMS.items():
            measure(name, program, Path(folder))


if __name__ == "__main__":
    main()
