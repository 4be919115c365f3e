"""Training after a bug was found. The fault: anomaly detection was left on, so each op notes where it was called; mended: it is off."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.Linear(192, 128), nn.Linear(128, 10)

    def forward(self, x):
        state = torch.zeros(x.shape[0], 128)
        for moment in range(x.shape[1]):
            state = torch.tanh(self.cell(torch.cat([x[:, moment], state], dim=1)))
        return self.head(state)


torch.autograd.set_detect_anomaly(FAULT, check_nan=True)
model = Recurrent()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(64, 40, 64), torch.randint(0, 10, (64,))
for _ in range(15):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
