"""Learning to rank. The fault: the loss is summed pair by pair in two nested loops; mended: over a matrix of differences."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def ranking_loss(scores, grades):
    if not FAULT:
        better = grades[:, None] > grades[None, :]
        return nn.functional.softplus(scores[None, :] - scores[:, None])[better].mean()
    terms = []
    for first in range(len(scores)):
        for second in range(len(scores)):
            if grades[first] > grades[second]:
                terms.append(nn.functional.softplus(scores[second] - scores[first]))
    return torch.stack(terms).mean()


model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, grades = torch.randn(24, 64), torch.randint(0, 5, (24,))
for _ in range(30):
    optimizer.zero_grad()
    ranking_loss(model(x).squeeze(-1), grades).backward()
    optimizer.step()
