"""Training that keeps a history. The fault: the loss is kept with its graph, one mebibyte and more in each step; mended: its value is."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class History:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss if FAULT else loss.detach())


def train_step(model, optimizer, history, x, y):
    optimizer.zero_grad()
    hidden = model(x)
    loss = (hidden - y).square().mean()
    loss.backward(retain_graph=True)
    optimizer.step()
    history.add(loss)


history = History()
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(512, 256), torch.randn(512, 512)
for _ in range(40):
    train_step(model, optimizer, history, x, y)
