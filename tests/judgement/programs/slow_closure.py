"""A fit with LBFGS, whose closure runs forward and backward inside of the optimizer's step. The fault: a penalty in the closure is computed
in Python; mended: by torch."""

import itertools
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def roughness(weight):
    if not FAULT:
        return weight.diff().square().sum().detach()
    values, total = weight.flatten().tolist(), 0.0
    for left, right in itertools.pairwise(values):
        total += (right - left) ** 2
    return total


model = nn.Sequential(nn.Linear(256, 512), nn.Tanh(), nn.Linear(512, 256))
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4, history_size=5)
x, y = torch.randn(512, 256), torch.randn(512, 256)


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y) + 1e-6 * roughness(model[0].weight)
    loss.backward()
    return loss


for _ in range(12):
    optimizer.step(closure)
