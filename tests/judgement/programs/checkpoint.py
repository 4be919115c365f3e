"""Training that saves its state. The fault: every fifth step waits until the checkpoint is on the disk; mended: it is
saved when training is over."""

import os
import sys
import tempfile

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def save(model, optimizer, path):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    with open(path, "wb") as file:
        torch.save(state, file)
        os.fsync(file.fileno())


model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(16, 512), torch.randint(0, 10, (16,))
with tempfile.TemporaryDirectory() as folder:
    for step in range(200):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if FAULT and step % 5 == 4:
            save(model, optimizer, f"{folder}/state.pt")
    save(model, optimizer, f"{folder}/state.pt")
