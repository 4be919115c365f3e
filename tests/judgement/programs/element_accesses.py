"""A ranking loss. The fault: scores are compared element by element, 3,840 accesses in each step; mended: as whole tensors."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def margin_loss(scores):
    if not FAULT:
        return (1 - scores[:, :30] + scores[:, 1:31]).clamp(min=0).mean()
    worst = 0.0
    for row in range(64):
        for column in range(30):
            worst += max(0.0, 1 - float(scores[row, column]) + float(scores[row, column + 1]))
    return scores.mean() + worst / (64 * 30)


model = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 31))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x = torch.randn(64, 128)
for _ in range(30):
    optimizer.zero_grad()
    loss = margin_loss(model(x))
    loss.backward()
    optimizer.step()
