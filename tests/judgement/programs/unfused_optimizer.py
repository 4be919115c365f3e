"""A model of many small layers. The fault: AdamW updates its 240 parameters one by one; mended: in one fused op."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Experts(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(64, 64) for _ in range(count))
        self.head = nn.Linear(64, 1)

    def forward(self, x):
        weight = torch.stack([expert.weight for expert in self.experts])
        bias = torch.stack([expert.bias for expert in self.experts])
        return self.head(torch.einsum("bi,eoi->beo", x, weight).add(bias).relu().mean(1))


model = Experts(120)
optimizer = torch.optim.AdamW(model.parameters(), **({"foreach": False} if FAULT else {"fused": True}))
x, y = torch.randn(32, 64), torch.randn(32, 1)
for _ in range(50):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
