"""Two ranks that work equally long.

torchrun --nproc-per-node 2 ddp.py
"""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(2048, 64), torch.randint(0, 10, (2048,))
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
dist.destroy_process_group()
