"""Hours of a monitor on a training loop, in real time: whether memory stays constant, and whether each file holds the whole window.

A second process trains a small network in the embedded runtime: steps of 10 ms with about 300 ops, under monitor(keep_last="60s"). This
process samples its memory every ten seconds, asks for two files every ten minutes with `mtprof trigger`, validates each file, and looks at
the time that it holds. Prints one JSON object per line.

    MINDTORCH_BUILD_DIR=build/release python benchmarks/long/monitor_hour.py --hours 1
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(os.environ["MINDTORCH_BUILD_DIR"]).absolute()
MTPROF = BUILD / "bin" / "mtprof"
sys.path.insert(0, str(BUILD / "python"))

WINDOW_SECONDS, STEP_SECONDS = 60, 0.010
SAMPLE_EVERY = 10
LAYERS = 6


def make_step(torch):
    layers = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(32, 32), torch.nn.ReLU())]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    inputs, target = torch.randn(16, 32), torch.randint(0, 10, (16,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), target).backward()
        optimizer.step()

    return step


def train(folder):
    """Trains until its input is closed."""
    import threading

    import mindtorch_v2 as torch
    from mindtorch_v2.profiler import monitor

    ends = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ends.set()), daemon=True).start()
    step = make_step(torch)
    with monitor(keep_last=f"{WINDOW_SECONDS}s", folder=folder, slow_steps=False) as mon:
        due = time.perf_counter()
        while not ends.is_set():
            step()
            mon.step()
            due += STEP_SECONDS
            left = due - time.perf_counter()
            if left > 0:
                time.sleep(left)
            else:
                due -= left
        print(json.dumps(mon.metrics()), flush=True)


def resident_mib(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def mtprof(*arguments):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run([MTPROF, *map(str, arguments)], capture_output=True, text=True, check=False, env=environment)


def look_at(path):
    valid = mtprof("validate", path)
    about = json.loads(mtprof("info", path, "--json").stdout)
    steps = about["steps"]
    seconds = 1e-9 * (steps[-1]["start_ns"] + steps[-1]["duration_ns"] - steps[0]["start_ns"])
    numbers = [step["number"] for step in steps]
    result = {
        "is_valid": valid.returncode == 0,
        "seconds": round(seconds, 3),
        "steps": len(steps),
        "has_gaps": numbers != list(range(numbers[0], numbers[-1] + 1)),
        "events": about["events"],
        "events_per_step": round(about["events"] / len(steps), 1),
        "losses": about["losses"],
        "megabytes": round(about["bytes"] / 1e6, 1),
        "problems": [line for line in valid.stdout.splitlines() if not line.startswith("ok")],
    }
    Path(path).unlink()
    return result


def say(**values):
    print(json.dumps(values), flush=True)


def watch(hours, trigger_every, folder):
    command = [sys.executable, __file__, "--train", folder]
    trainer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    began = time.monotonic()
    memory = []
    next_trigger = 2 * WINDOW_SECONDS
    while (passed := time.monotonic() - began) < 3600 * hours:
        time.sleep(SAMPLE_EVERY)
        memory.append((passed, resident_mib(trainer.pid)))
        say(second=round(passed), resident_mib=round(memory[-1][1], 1))
        if passed >= next_trigger:
            next_trigger += trigger_every
            for _ in range(2):  # the second one shortly after the first
                written = mtprof("trigger", trainer.pid)
                say(
                    second=round(time.monotonic() - began),
                    trigger=look_at(written.stdout.strip()) if written.returncode == 0 else written.stderr,
                )
    trainer.stdin.close()
    metrics = json.loads(trainer.stdout.readline())
    trainer.wait()
    steady = [mib for second, mib in memory if second > 5 * WINDOW_SECONDS] or [memory[-1][1]]
    say(first_mib=round(steady[0], 1), last_mib=round(steady[-1], 1), largest_mib=round(max(steady), 1), metrics=metrics)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--trigger-every", type=float, default=600, metavar="SECONDS")
    parser.add_argument("--train", metavar="FOLDER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train(arguments.train)
        return
    with tempfile.TemporaryDirectory() as folder:
        watch(arguments.hours, arguments.trigger_every, folder)


if __name__ == "__main__":
    main()
