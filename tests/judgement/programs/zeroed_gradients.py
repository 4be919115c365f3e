"""A model with a large table. The fault: zero_grad fills its gradients with zeros, to which backward adds; mended: they are dropped."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def train(model, optimizer, x, y):
    for _ in range(20):
        optimizer.zero_grad(set_to_none=not FAULT)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1000))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, fused=True)
train(model, optimizer, torch.randn(8, 1024), torch.randint(0, 1000, (8,)))
