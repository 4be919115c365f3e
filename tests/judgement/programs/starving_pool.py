"""Simulations in a pool of threads. The fault: the pool has one thread for eight simulations; mended: eight."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def simulate(seed):
    time.sleep(0.006)  # a simulator that runs elsewhere
    return torch.full((32, 128), seed % 5 / 5)


def begin_batch(pool, step):
    return [pool.submit(simulate, seed) for seed in range(step, step + 8)]


def next_batch(simulations):
    return torch.cat([simulation.result() for simulation in simulations])


model = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
with ThreadPoolExecutor(max_workers=1 if FAULT else 8) as pool:
    simulations = begin_batch(pool, 0)
    for step in range(1, 30):
        batch = next_batch(simulations)
        simulations = begin_batch(pool, step)
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
