"""A regression on data of NumPy. The fault: NumPy's float64 goes into the model, which is made float64 too; mended: float32."""

import sys

import numpy
import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def load_table():
    table = numpy.random.default_rng(0).normal(size=(256, 512))
    return torch.from_numpy(table) if FAULT else torch.from_numpy(table).float()


def train(model, optimizer, x):
    for _ in range(25):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()


x = load_table()
model = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 1)).to(x.dtype)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
train(model, optimizer, x)
