"""For the tests of mtprof run: a program that trains, and waiting for what programs do."""

import os
import time
from pathlib import Path

EMBEDDED = """
import sys
import mindtorch_v2 as torch
from mindtorch_v2 import nn, optim

model = nn.Linear(8, 4)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    optimizer.zero_grad()
    model(torch.randn(2, 8)).sum().backward()
    optimizer.step()
print("trained", sys.argv[1:])
"""

LIMIT = float(os.environ.get("LIMIT", 120))  # seconds after which something hangs


def until(condition):
    deadline = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < deadline, "this never came true"
        time.sleep(0.01)
    return found


def has_ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
