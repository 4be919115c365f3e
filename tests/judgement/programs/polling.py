"""Training on batches that a thread prepares. The fault: the loop looks every 20 ms whether there is one; mended: it is woken."""

import queue
import sys
import threading
import time

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
STEPS = 35
batches, room = queue.Queue(), threading.Semaphore(2)


def prepare():
    for step in range(STEPS):
        room.acquire()
        batches.put(torch.full((256, 128), step / STEPS))


def wait_for_batch():
    if FAULT:
        time.sleep(0.02)
        while batches.empty():
            time.sleep(0.02)
    batch = batches.get()
    room.release()
    return batch


threading.Thread(target=prepare, name="prepare").start()
model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for _ in range(STEPS):
    batch = wait_for_batch()
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
