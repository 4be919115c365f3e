"""Training with an average of the weights. The fault: state_dict is copied and averaged name by name in each step; mended: in place, with
few ops."""

import copy
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Average:
    def __init__(self, model):
        self.values = copy.deepcopy(model.state_dict())

    def update(self, model):
        if FAULT:
            current = copy.deepcopy(model.state_dict())
            self.values = {name: 0.99 * value + 0.01 * current[name] for name, value in self.values.items()}
        else:
            torch._foreach_lerp_(list(self.values.values()), [value.detach() for value in model.state_dict().values()], 0.01)


model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(8)], nn.Linear(256, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
average = Average(model)
x, y = torch.randn(128, 256), torch.randint(0, 10, (128,))
for _ in range(80):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    average.update(model)
