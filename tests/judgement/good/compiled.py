"""A compiled model; the first step compiles it."""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 256))
compiled = torch.compile(model)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x = torch.randn(256, 256)
for _ in range(30):
    optimizer.zero_grad()
    compiled(x).square().mean().backward()
    optimizer.step()
