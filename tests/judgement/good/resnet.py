"""A residual network for images, in channels_last."""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = (nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(2))

    def forward(self, x):
        y = self.norms[0](self.first(x)).relu()
        return (self.norms[1](self.second(y)) + x).relu()


model = nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), Block(32), Block(32), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
model = model.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, fused=True)
images = torch.randn(8, 3, 48, 48).to(memory_format=torch.channels_last)
labels = torch.randint(0, 10, (8,))
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
