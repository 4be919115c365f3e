"""Training with an accuracy. The fault: hits are counted prediction by prediction with .item(); mended: by one comparison."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Accuracy:
    def __init__(self):
        self.hits = self.count = 0

    def update(self, scores, labels):
        best = scores.detach().argmax(-1)
        if not FAULT:
            self.hits += (best == labels).sum()
            self.count += len(labels)
            return
        for index in range(len(labels)):
            self.hits += int(best[index].item() == labels[index].item())
            self.count += 1


model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
accuracy = Accuracy()
x, y = torch.randn(1024, 64), torch.randint(0, 10, (1024,))
for _ in range(50):
    optimizer.zero_grad()
    scores = model(x)
    nn.functional.cross_entropy(scores, y).backward()
    optimizer.step()
    accuracy.update(scores, y)
