"""Trains two linear layers to tell three interleaved spirals apart, and prints the profile of a few steps.

python examples/train_mlp.py [--steps N] [--device cpu|npu] [--profile] [--trace FILE]
"""

import argparse
import math

import mindtorch_v2 as torch
from mindtorch_v2 import nn


def spirals(count, device):
    """Points of three arms, and the number of each point's arm."""
    labels = torch.randint(3, (count,))
    radius = torch.rand(count)
    angle = 2.1 * labels + 4 * radius + 0.3 * (torch.rand(count) - 0.5)
    points = torch.stack([radius * angle.cos(), radius * angle.sin()], 1)
    return points.to(device), labels.to(device)


def make_model():
    return nn.Sequential(nn.Linear(2, 128), nn.ReLU(), nn.Dropout(0.1), nn.Linear(128, 3))


def train(steps, device="cpu", after_step=lambda: None):
    """The loss of each step."""
    torch.manual_seed(0)
    model = make_model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for step in range(steps):
        points, labels = spirals(256, device)
        loss = nn.functional.cross_entropy(model(points), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if step % max(1, steps // 10) == 0:
            print(f"step {step:4}  loss {losses[-1]:.4f}")
        after_step()
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--trace", default="train_mlp.json.gz")
    arguments = parser.parse_args()
    if not arguments.profile:
        losses = train(arguments.steps, arguments.device)
    else:
        schedule = torch.profiler.schedule(wait=1, warmup=1, active=3, repeat=1)
        with torch.profiler.profile(schedule=schedule, record_shapes=True, profile_memory=True) as prof:
            losses = train(arguments.steps, arguments.device, prof.step)
        print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=15))
        prof.export_chrome_trace(arguments.trace)
        print(f"trace written to {arguments.trace}")
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} in {len(losses)} steps on {arguments.device}")
    return 0 if losses[-1] < losses[0] and not math.isnan(losses[-1]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
