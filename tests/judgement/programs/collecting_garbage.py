"""Training with a large index in memory. The fault: gc.collect() in each step walks over all of it; mended: not called."""

import gc
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def train_step(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if FAULT:
        gc.collect()
    return loss.detach()


index = [{"document": number, "words": [number]} for number in range(100_000)]
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(256, 128), torch.randn(256, 1)
for _ in range(25):
    train_step(model, optimizer, x, y)
