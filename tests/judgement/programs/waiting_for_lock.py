"""Training that shares its statistics with a thread. The fault: the thread writes them to a slow disk while it holds the lock of the
training loop; mended: it copies them under the lock and writes afterwards."""

import sys
import threading
import time

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Statistics:
    def __init__(self):
        self.lock = threading.Lock()
        self.losses = []
        self.done = threading.Event()

    def add(self, loss):
        with self.lock:
            self.losses.append(loss)

    def write(self, losses):
        time.sleep(0.025)  # a disk on the network

    def write_always(self):
        while not self.done.wait(0.001):
            if FAULT:
                with self.lock:
                    self.write(self.losses[-10:])
            else:
                with self.lock:
                    last = self.losses[-10:]
                self.write(last)


statistics = Statistics()
writer = threading.Thread(target=statistics.write_always, name="statistics")
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(256, 64), torch.randn(256, 1)
writer.start()
for _ in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    statistics.add(loss.item())
statistics.done.set()
writer.join()
