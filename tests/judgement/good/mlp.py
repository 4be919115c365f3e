"""A perceptron on data in memory."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
images, labels = torch.randn(30, 128, 256), torch.randint(0, 10, (30, 128))
for x, y in zip(images, labels, strict=False):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
