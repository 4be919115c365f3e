"""What a monitor adds to a training step with 300 ops in the embedded runtime, and what it holds after many steps.

Rounds with and without a monitor take turns. The processor time of 300 small ops and of the end of the step counts, and of the steps of a
round the fastest fifth, because whatever else the machine does only ever adds to a step. What is added is given as a share of a step of
10 ms; the peer is the limit for it, 1.5 %. Prints one JSON object per line, as benchmarks/harness.h does.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(os.environ["MINDTORCH_BUILD_DIR"])
sys.path.insert(0, str(BUILD / "python"))

import mindtorch_v2 as torch  # noqa: E402
from mindtorch_v2.profiler import monitor  # noqa: E402

OPS, ROUNDS, STEPS = 300, 15, 400
STEP_SECONDS = 0.010
LIMIT = 0.015
MANY_STEPS = 200_000


def report(name, ours, peer, peer_value, unit, note):
    line = {
        "name": f"monitor/{name}",
        "ours": ours,
        "peer": peer,
        "peer_value": peer_value,
        "ratio": ours / peer_value,
        "unit": unit,
        "note": note,
    }
    print(json.dumps(line), flush=True)


def make_step():
    small = torch.ones(16)

    def step():
        value = small
        for _ in range(OPS):
            value = value * 1.0

    return step


def times_of(step, after, count):
    times = []
    for _ in range(count):
        began = time.thread_time()
        step()
        after()
        times.append(time.thread_time() - began)
    return times


def fast(times):
    return statistics.quantiles(times, n=10)[1]


def added_time(folder):
    step = make_step()
    times_of(step, lambda: None, STEPS)
    added = []
    for _ in range(ROUNDS):
        plain = fast(times_of(step, lambda: None, STEPS))
        with monitor(keep_last="60s", folder=folder, slow_steps=False, max_cost=1.0) as mon:
            times_of(step, mon.step, STEPS)
            watched = fast(times_of(step, mon.step, STEPS))
        added.append((watched - plain) / STEP_SECONDS)
    report(
        "added_time",
        statistics.median(added),
        "limit",
        LIMIT,
        "share",
        f"{1e6 * STEP_SECONDS * statistics.median(added):.1f} us for {OPS} ops",
    )


def memory_over_time(folder):
    """Memory after a twentieth of the steps and after all of them."""
    x = torch.ones(4)
    with monitor(keep_last=500, folder=folder, slow_steps=False, max_cost=1.0) as mon:
        for count in range(MANY_STEPS):
            for _ in range(10):
                x = x * 1.0
            mon.step()
            if count == MANY_STEPS // 20:
                early = mon.metrics()["resident_bytes"]
        late = mon.metrics()["resident_bytes"]
    report("memory", late / 2**20, f"after {MANY_STEPS // 20} steps", early / 2**20, "MiB", f"after {MANY_STEPS} steps of 10 ops")


def main():
    with tempfile.TemporaryDirectory() as folder:
        added_time(folder)
        memory_over_time(folder)


if __name__ == "__main__":
    main()
