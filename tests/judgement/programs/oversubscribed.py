"""Training on the CPU. The fault: torch is told to use 32 threads, many more than there are cores; mended: as many as there are cores."""

import os
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
cores = len(os.sched_getaffinity(0))
torch.set_num_threads(max(32, 8 * cores) if FAULT else cores)

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.LayerNorm(512), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(256, 256), torch.randint(0, 10, (256,))
for _ in range(15):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
