"""Advice against the program in which it was followed: for programs with a planted fault, what the first finding predicts, and what the
mended program takes.

    ./dev bench judgement
    python benchmarks/judgement.py [NAME ...] [--rounds N]

Each program of tests/judgement/programs is recorded with its fault as a newcomer would (`mtprof run`, without options), and the first
finding of its report predicts the step without the fault. Then the program runs without a profiler, with its fault and mended, one after
the other, and the steps of its optimizer are timed. Programs without an optimizer have no steps and are left out.

Prints one JSON object per line, as benchmarks/harness.h does: `ours` is the predicted gain and `peer_value` the measured one, both as
shares of the step. The last line has the median and the worst of |predicted - measured|.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.setdefault("MINDTORCH_BUILD_DIR", str(ROOT / "build" / "dev")))
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # mtprof runs programs with its python3
sys.path.insert(0, str(ROOT / "tests" / "judgement"))

from judge import OF_BUSY_MACHINES, cases, judge, record  # noqa: E402

ROUNDS = 3
# One of each kind of remedy. All others of tests/judgement/programs can be named on the command line.
USUAL = [
    "collecting_garbage",
    "element_accesses",
    "few_workers",
    "float64_by_accident",
    "op_chains",
    "recomputation",
    "sleeping",
    "slow_function",
    "slow_loader",
    "unfused_optimizer",
    "waiting_for_lock",
    "zeroed_gradients",
]

# Runs a program and prints the mean time from one step of its optimizer to the next. The first steps warm up.
TIMED = """
import json, runpy, sys, time
import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
times = []
register_optimizer_step_post_hook(lambda *_: times.append(time.perf_counter()))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
steps = len(times) - 2
print("\\nstep_ns:", json.dumps(1e9 * (times[-1] - times[1]) / steps if steps > 0 else None))
"""


def measured_step_ns(case, argument, folder):
    """Mean duration of a step without a profiler; None if the program has no steps."""
    script = folder / "timed.py"
    script.write_text(TIMED)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, script, case.program, argument]
    done = subprocess.run([str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{case.name} {argument}: status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.rpartition("step_ns:")[2])


def prediction(case, folder):
    """A recording of the program with its fault: the step without the time in which others had the processors, and the first finding.

    Time in which the program did not run belongs to all of its parts alike, so the predicted gain is a share of the rest of the step.
    """
    verdict = judge(record(case, "fault", folder))
    report = json.loads(verdict.recording.with_suffix(".findings.json").read_text())
    busy = OF_BUSY_MACHINES if os.getloadavg()[0] > os.cpu_count() else ()  # these are then true of the mended program, too
    predicted = [finding for finding in report["findings"] if finding["predicted_step_ns"] is not None and finding["id"] not in busy]
    waited = sum(finding["cost_ns"] for finding in report["findings"] if finding["id"] == "not_running") if busy else 0
    return report["prediction"], waited, predicted[0] if predicted else None


def compare(case, rounds, folder):
    """Predicted and measured gain as shares of the step, and what they are made of; None if nothing was predicted."""
    base, waited, finding = prediction(case, folder)
    if finding is None:
        print(f"{case.name}: nothing was predicted ({base['problem'] or 'no finding'})", file=sys.stderr)
        return None
    times = {"fault": [], "mended": []}
    for _ in range(rounds):
        for argument, found in times.items():
            found.append(measured_step_ns(case, argument, folder))
    if None in times["fault"] + times["mended"]:
        print(f"{case.name}: the program has no steps of an optimizer", file=sys.stderr)
        return None
    fault, mended = (statistics.median(times[argument]) for argument in ("fault", "mended"))
    return {
        "finding": finding["id"],
        "at_best": finding["at_best"],
        "predicted": (base["base_ns"] - finding["predicted_step_ns"]) / max(1, base["base_ns"] - waited),
        "measured": 1 - mended / fault,
        "ms": [base["base_ns"] / 1e6, finding["predicted_step_ns"] / 1e6, fault / 1e6, mended / 1e6],
    }


def report(name, ours, theirs, note):
    line = {"name": f"judgement/{name}", "ours": ours, "peer": "mended program", "peer_value": theirs, "ratio": None, "unit": "share"}
    print(json.dumps({**line, "note": note}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"programs; default: {', '.join(USUAL)}; all: every one")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each program is timed")
    options = parser.parse_args()
    known = {case.name: case for case in cases()["fault"] if not case.torchrun and not case.missing_packages()}
    names = list(known) if options.names == ["all"] else options.names or USUAL
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no program {', '.join(unknown)}; there are {', '.join(known)}")
    off = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in names:
            result = compare(known[name], options.rounds, Path(temporary))
            if result is None:
                continue
            off.append(abs(result["predicted"] - result["measured"]))
            recorded, predicted, fault, mended = result["ms"]
            note = (
                f"{result['finding']}: recorded {recorded:.2f} -> {predicted:.2f} ms{' at best' if result['at_best'] else ''}, "
                f"measured {fault:.2f} -> {mended:.2f} ms"
            )
            report(name, round(result["predicted"], 4), round(result["measured"], 4), note)
    if off:
        worst = f"worst {max(off):.3f} of {len(off)} programs; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors"
        report("off_by_median", round(statistics.median(off), 4), 0, worst)


if __name__ == "__main__":
    main()
