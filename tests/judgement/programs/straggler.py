"""Two ranks that train together. The fault: one of them augments its data slowly, and the other waits for it in Gloo; mended: neither does.

torchrun --nproc-per-node 2 straggler.py
"""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

FAULT = sys.argv[1:] != ["mended"]


def augment(x):
    if FAULT and dist.get_rank() == 1:
        time.sleep(0.04)  # a slow disk
    return x + 0.1 * torch.randn_like(x)


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10)))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    x, y = torch.randn(2048, 128), torch.randint(0, 10, (2048,))
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(augment(x)), y)
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
