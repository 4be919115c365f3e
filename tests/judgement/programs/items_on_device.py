"""Training on the reference NPU. The fault: each layer's activation is read with item(), and the host waits; mended: never."""

import sys

import mindtorch_v2 as torch
from mindtorch_v2 import nn, optim

FAULT = sys.argv[1:] != ["mended"]


def watch(value):
    return value.mean().item() if FAULT else None


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(128, 128) for _ in range(6)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
            watch(x)
        return x


model = Model().to("npu")
optimizer = optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(64, 128).to("npu")
for _ in range(30):
    optimizer.zero_grad()
    loss = (model(x) * model(x)).mean()
    loss.backward()
    optimizer.step()
