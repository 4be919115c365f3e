"""Training that keeps the last weights. The fault: the whole model is copied with deepcopy in each step; mended: copied in place."""

import copy
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class LastWeights:
    def __init__(self, model):
        self.model = copy.deepcopy(model)

    def update(self, model):
        if FAULT:
            self.model = copy.deepcopy(model)
        else:
            torch._foreach_copy_(list(self.model.parameters()), list(model.parameters()))


model = nn.Sequential(*[nn.Linear(32, 32) for _ in range(150)])
last = LastWeights(model)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x = torch.randn(64, 32)
for _ in range(20):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    with torch.no_grad():
        last.update(model)
