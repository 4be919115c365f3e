"""A network for images. The fault: each block converts to channels_last and back; mended: the whole model is channels_last."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels, 1, 1))

    def forward(self, x):
        if not FAULT:
            return x * self.scale
        x = x.contiguous(memory_format=torch.channels_last)
        x = x * self.scale
        return x.contiguous(memory_format=torch.contiguous_format)


blocks = [Block(32) for _ in range(6)]
model = nn.Sequential(nn.Conv2d(3, 32, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
x, y = torch.randn(4, 3, 48, 48), torch.randint(0, 10, (4,))
if not FAULT:
    model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
for _ in range(50):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
