"""A model for sets. The fault: a Python loop sends the 128 rows of a batch through the model one by one; mended: all at once."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256))

    def forward(self, x):
        if not FAULT:
            return self.layers(x)
        return torch.stack([self.layers(row) for row in x])


model = nn.Sequential(Encoder(), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(128, 128), torch.randint(0, 10, (128,))
for _ in range(50):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
