"""Training that watches the machine. The fault: each step starts a program and waits for it; mended: it reads a file of the kernel."""

import subprocess
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def free_memory():
    if FAULT:
        return subprocess.run(["sh", "-c", "sleep 0.02; cat /proc/meminfo"], capture_output=True, text=True).stdout.splitlines()[1]
    with open("/proc/meminfo") as file:
        return file.readlines()[1]


model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(256, 64), torch.randn(256, 1)
for _ in range(25):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    memory = free_memory()
