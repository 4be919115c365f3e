"""A model that somebody debugged. The fault: forward hooks still compute a histogram of each activation in Python; mended: no hooks."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
histograms = {}


def histogram_hook(module, inputs, output):
    counts = {}
    for value in output.detach().flatten()[:20000].tolist():
        counts[round(value, 1)] = counts.get(round(value, 1), 0) + 1
    histograms[module] = counts


model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
if FAULT:
    for layer in model:
        layer.register_forward_hook(histogram_hook)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(128, 128), torch.randint(0, 10, (128,))
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
