"""Training that keeps a history. The fault: all predictions of all steps are kept as a Python list, which is walked in each step; mended: a
running mean is kept."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class History:
    def __init__(self):
        self.values, self.mean = [], 0.0

    def add(self, predictions):
        if FAULT:
            self.values.extend(predictions.flatten().tolist())
            self.mean = sum(value for value in self.values) / len(self.values)
        else:
            self.mean = 0.9 * self.mean + 0.1 * predictions.mean().item()


def train(model, optimizer, history, x, y):
    for _ in range(60):
        optimizer.zero_grad()
        predictions = model(x)
        nn.functional.mse_loss(predictions, y).backward()
        optimizer.step()
        history.add(predictions.detach())


model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
train(model, optimizer, History(), torch.randn(1024, 64), torch.randn(1024, 4))
