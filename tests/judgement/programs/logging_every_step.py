"""Training that logs. The fault: the norm of each parameter is logged in each step, and the file is flushed; mended: every 50 steps."""

import os
import sys
import tempfile

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def log_norms(model, step, file):
    for name, parameter in model.named_parameters():
        print(f"step {step}: {name} {parameter.norm().item():.4f}", file=file, flush=True)
        os.fsync(file.fileno())


layers = [layer for _ in range(6) for layer in (nn.Linear(256, 256), nn.ReLU())]
model = nn.Sequential(*layers, nn.Linear(256, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(64, 256), torch.randint(0, 10, (64,))
with tempfile.NamedTemporaryFile("w", dir=os.environ.get("LOG_FOLDER", "."), suffix=".log") as file:
    for step in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        if step % (1 if FAULT else 50) == 0:
            log_norms(model, step, file)
