"""Training beside a thread that prepares a vocabulary. The fault: the thread counts in pure Python and holds the GIL; mended: it sleeps
until it is needed."""

import sys
import threading

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
done = threading.Event()


def count_words():
    counts, number = {}, 0
    while not done.is_set():
        number = (number * 1103515245 + 12345) % 65536
        counts[number] = counts.get(number, 0) + 1


def train(model, optimizer, x, y):
    for _ in range(25):
        optimizer.zero_grad()
        for part, target in zip(x, y, strict=False):
            nn.functional.mse_loss(model(part), target).backward()
        optimizer.step()


thread = threading.Thread(target=count_words if FAULT else done.wait, name="vocabulary", daemon=True)
thread.start()
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
train(model, optimizer, torch.randn(4, 128, 64), torch.randn(4, 128, 1))
done.set()
thread.join()
