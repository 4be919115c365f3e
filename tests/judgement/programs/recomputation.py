"""A deep network. The fault: each block is checkpointed, so its forward runs twice, though memory is ample; mended: it runs once."""

import sys

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

FAULT = sys.argv[1:] != ["mended"]


class Deep(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(depth))

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if FAULT else block(x)
        return x


model = Deep(8)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x = torch.randn(128, 256)
for _ in range(50):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
