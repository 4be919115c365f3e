"""A regression. The fault: a metric is computed in Python over all samples in each step; mended: torch computes it."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def pairs_in_order(predicted, expected):
    """The share of neighbours that are in the right order."""
    if not FAULT:
        return ((predicted.diff() > 0) == (expected.diff() > 0)).float().mean()
    predicted, expected, right = predicted.tolist(), expected.tolist(), 0
    for first in range(len(predicted) - 1):
        for second in range(first + 1, min(first + 100, len(predicted))):
            right += (predicted[first] < predicted[second]) == (expected[first] < expected[second])
    return right


model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(512, 64), torch.randn(512)
for _ in range(70):
    optimizer.zero_grad()
    predicted = model(x).squeeze(1)
    loss = nn.functional.mse_loss(predicted, y)
    loss.backward()
    optimizer.step()
    ordered = pairs_in_order(predicted.detach(), y)
