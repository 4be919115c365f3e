"""A compiled model with a schedule. The fault: the temperature is a Python number that changes in each step, so each step compiles anew;
mended: it is a tensor."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
torch._dynamo.config.recompile_limit = 64
torch._dynamo.config.specialize_float = True


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))

    def forward(self, x, temperature):
        return (self.layers(x) / temperature).log_softmax(-1)


model = Model()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(256, 256), torch.randint(0, 10, (256,))
for step in range(16):
    temperature = 2 / (1 + step / 16)
    optimizer.zero_grad()
    output = compiled(x, temperature if FAULT else torch.tensor(temperature))
    nn.functional.nll_loss(output, y).backward()
    optimizer.step()
