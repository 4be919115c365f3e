"""Minutes of training on a GPU under each memory policy: whether memory stays constant, and whether each launch has its device record.

The policies train at the same time, each in a process of its own: one keeps its last 20 steps, the other spills to a file. Prints one JSON
object per line: samples of the resident memory, and at the end what the last line of the table says.

    MINDTORCH_BUILD_DIR=build/release python benchmarks/long/cuda_training.py --minutes 10
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(os.environ["MINDTORCH_BUILD_DIR"]).absolute()
sys.path.insert(0, str(BUILD / "python"))
os.environ.setdefault("MINDTORCH_LIBRARY_PATH", f"torch_bridge={BUILD}/torch_bridge")

SAMPLE_EVERY = 20
POLICIES = ("keep_last", "spill")


def make_step(torch):
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, 2).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randn(8, 32, 128, device="cuda")

    def step():
        optimizer.zero_grad()
        model(tokens).square().mean().backward()
        optimizer.step()

    return step


def resident_mib():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def say(**values):
    print(json.dumps(values), flush=True)


def train(policy, minutes, folder):
    import torch
    from mindtorch_v2.profiler import _ExperimentalConfig, profile

    options = {"keep_last": {"keep_last_steps": 20}, "spill": {"spill_path": f"{folder}/events.mtrec"}}
    config = _ExperimentalConfig(**options[policy])
    step = make_step(torch)
    for _ in range(20):
        step()
    steps, samples = 0, []
    with profile(activities=["cpu", "cuda"], experimental_config=config) as prof:
        began = next_sample = time.monotonic()
        while (now := time.monotonic()) - began < 60 * minutes:
            step()
            prof.step()
            steps += 1
            if now >= next_sample:
                next_sample += SAMPLE_EVERY
                samples.append(resident_mib())
                say(policy=policy, second=round(now - began), steps=steps, resident_mib=round(samples[-1], 1))
        torch.cuda.synchronize()
    last_line = prof.key_averages().table(row_limit=1).strip().splitlines()[-1]
    launches, records, lost = map(int, re.search(r"Launches: (\d+)  Device records: (\d+)  Lost: (\d+)", last_line).groups())
    growth = (samples[-1] - samples[len(samples) // 4]) * 2**20
    say(
        policy=policy,
        steps=steps,
        launches=launches,
        device_records=records,
        lost=lost,
        losses=[str(loss) for loss in prof.losses()],
        grown_bytes_in_the_last_three_quarters=round(growth),
        table=last_line,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--train", choices=POLICIES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.train:
        train(arguments.train, arguments.minutes, arguments.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--minutes", str(arguments.minutes), "--folder", folder, "--train"]
        trainers = [subprocess.Popen([*command, policy]) for policy in POLICIES]
        sys.exit(max(trainer.wait() for trainer in trainers))


if __name__ == "__main__":
    main()
