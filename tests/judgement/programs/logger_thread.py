"""A logger with a thread of its own. The fault: the thread makes text of all histories all the time and so holds the GIL; mended: it waits
for news."""

import contextlib
import queue
import sys
import threading

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Logger:
    def __init__(self):
        self.news, self.history = queue.Queue(), []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def log(self, value):
        self.news.put(value)

    def run(self):
        while True:
            with contextlib.suppress(queue.Empty):
                self.history.append(self.news.get(block=not FAULT))
            if FAULT:
                self.summarize()

    def summarize(self):
        return "".join(f"{value:.3f}," for value in self.history for _ in range(50))


model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(4096, 64), torch.randint(0, 10, (4096,))
logger = Logger()
for _ in range(60):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    logger.log(loss.item())
