"""A loop with accelerate."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
loader = DataLoader(TensorDataset(torch.randn(256 * 25, 256)), batch_size=256)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for (batch,) in loader:
    optimizer.zero_grad()
    accelerator.backward(model(batch).square().mean())
    optimizer.step()
