"""A model fed from Python lists. The fault: each step makes a tensor of 100,000 Python numbers; mended: it is made once."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
rows = [[(row * column) % 97 / 97 for column in range(400)] for row in range(512)]
if not FAULT:
    rows = torch.tensor(rows)


def make_batch(rows, step):
    first = step % 256
    return torch.tensor(rows[first : first + 256]) if FAULT else rows[first : first + 256]


model = nn.Sequential(nn.Linear(400, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(60):
    batch = make_batch(rows, step)
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
