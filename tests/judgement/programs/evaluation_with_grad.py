"""Training that evaluates after each step. The fault: the evaluation records a graph that nobody uses; mended: under no_grad.

The layer saves what the backward pass would need: that is the price of the graph.
"""

import contextlib
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * torch.sigmoid(x)

    @staticmethod
    def setup_context(context, inputs, output):
        context.save_for_backward(inputs[0])

    @staticmethod
    def backward(context, gradient):
        (x,) = context.saved_tensors
        s = torch.sigmoid(x)
        return gradient * s * (1 + x * (1 - s))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(128, 512), nn.Linear(512, 10)

    def forward(self, x):
        return self.second(Swish.apply(self.first(x)))


def evaluate(model, batches):
    losses = []
    with contextlib.nullcontext() if FAULT else torch.no_grad():
        for x, y in batches:
            losses.append(nn.functional.cross_entropy(model(x), y))
    return torch.stack(losses).mean()


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(256, 128), torch.randint(0, 10, (256,))
held_out = [(torch.randn(256, 128), torch.randint(0, 10, (256,))) for _ in range(8)]
for _ in range(50):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    evaluate(model, held_out)
