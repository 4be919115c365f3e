"""A network with an activation of its own. The fault: it is written as a chain of nine element-wise ops; mended: torch's gelu."""

import math
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Activation(nn.Module):
    def forward(self, x):
        if not FAULT:
            return nn.functional.gelu(x, approximate="tanh")
        cube = x * x * x
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * cube)
        return 0.5 * x * (1 + torch.tanh(inner))


model = nn.Sequential(nn.Linear(64, 1024), Activation(), nn.Linear(1024, 64))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x = torch.randn(1024, 64)
for _ in range(30):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
