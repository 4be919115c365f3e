"""A recommender. The fault: the gradient of a table of 300,000 rows is dense, though a batch touches 64 of them; mended: it is sparse."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(300_000, 64, sparse=not FAULT)
        self.score = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, items):
        return self.score(self.items(items)).squeeze(-1)


model = Recommender()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
items, liked = torch.randint(0, 300_000, (64,)), torch.rand(64)
for _ in range(15):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(items), liked).backward()
    optimizer.step()
