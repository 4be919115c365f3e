"""Answers and files of torch.profiler against ours, on the same events: torch profiles and exports, bench_answers reads what it exported.

Prints one JSON object per line, as benchmarks/harness.h does. Ratio = our time / torch's. Without PyTorch it says so and ends.
"""

import importlib.util
import json
import os
import statistics
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

ROUNDS = 3
STEPS = 120
QUESTIONS = ("key_averages", "chrome_json", "chrome_json_gz")


def report(name, ours, theirs, ratio, note):
    line = {"name": f"answers/{name}", "ours": ours, "peer": "torch", "peer_value": theirs, "ratio": ratio, "unit": "s", "note": note}
    print(json.dumps(line), flush=True)


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def train(torch, steps):
    layers = [torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64)) for _ in range(4)]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    batch = torch.randn(8, 64)
    for _ in range(steps):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()


def export_time(prof, path):
    """Times the export of a new file, as on our side. Replacing a file also costs the time to free its memory."""
    path.unlink(missing_ok=True)
    return timed(lambda: prof.export_chrome_trace(str(path)))


def torch_round(torch, folder):
    """Seconds of each question asked of a fresh profile; the plain trace is left in `folder`."""

    def profile():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
            train(torch, STEPS)
        return prof

    prof = profile()
    times = {"key_averages": timed(prof.key_averages)}  # includes making events of what was recorded, which torch does on demand
    times["chrome_json"] = export_time(prof, folder / "torch.json")
    prof = profile()  # torch can export a profile only once
    times["chrome_json_gz"] = export_time(prof, folder / "torch.json.gz")
    return times


def our_round(folder):
    program = Path(os.environ["MINDTORCH_BUILD_DIR"]) / "bin" / "bench_answers"
    return json.loads(subprocess.run([program, "--trace", folder / "torch.json"], capture_output=True, check=True, text=True).stdout)


def main():
    if importlib.util.find_spec("torch") is None:
        for question in QUESTIONS:
            report(question, None, None, None, "PyTorch is not installed (./dev test --torch installs it)")
        return
    import torch

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(dir=in_memory) as name:
        for _ in range(ROUNDS):
            theirs.append(torch_round(torch, Path(name)))
            ours.append(our_round(Path(name)))
    for question in QUESTIONS:
        note = f"torch {torch.__version__}, {ours[0]['events']} events"
        ratios = [a[question] / b[question] for a, b in zip(ours, theirs, strict=True)]
        medians = [statistics.median(r[question] for r in side) for side in (ours, theirs)]
        report(question, *medians, statistics.median(ratios), note)


if __name__ == "__main__":
    main()
