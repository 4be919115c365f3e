"""What the report finds in programs that run: deliberately bad ones, and good ones in which it must find nothing.

On the CPU, PyTorch can show a slow loader and an optimizer that is not fused. Waiting for a device needs a device: the reference NPU shows
it. Products in float32 need kernels of CUDA; tests/analyze/report/findings_test.cpp has them in a recording made by hand.
"""

import json
import os
import subprocess
import sys

import pytest

BAD = """
import torch
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 16 * 12

    def __getitem__(self, index):
        return torch.tensor([sum(range(1200 + k)) % 97 / 97 for k in range(8)])  # LOADING

model = torch.nn.Sequential(*[torch.nn.Linear(8, 8) for _ in range(16)])
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
for batch in DataLoader(Slow(), batch_size=16):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # OPTIMIZER
    print(loss.item())
"""

GOOD = """
import torch

model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(), torch.nn.Linear(512, 512))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
batch = torch.randn(256, 512)
for _ in range(12):
    loss = model(batch).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""

ON_A_DEVICE = """
import mindtorch_v2 as torch
from mindtorch_v2 import nn, optim

model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).to("npu")
optimizer = optim.SGD(model.parameters(), lr=0.01)
batch = torch.randn(256, 256).to("npu")
for _ in range(12):
    loss = (model(batch) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # READING
"""


@pytest.fixture
def findings(tmp_path, program):
    """{id: lines} of what the report about a program text finds."""

    def find(text, environment=None):
        (tmp_path / "train.py").write_text(text)
        chosen = {**os.environ, "MINDTORCH_MTPROF": str(program("mtprof")), "OMP_NUM_THREADS": "1", **(environment or {})}
        command = [sys.executable, "-m", "mindtorch_v2.profiler", "run", "--stack", "-o", "train.mtrec", "train.py"]
        done = subprocess.run(command, cwd=tmp_path, env=chosen, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        report = [program("mtprof"), "report", "train.mtrec", "--json", "findings.json"]
        subprocess.run(report, cwd=tmp_path, check=True, capture_output=True)
        found = json.loads((tmp_path / "findings.json").read_text())["findings"]
        return {finding["id"]: finding["lines"] for finding in found}

    return find


def line_of(text, mark):
    (number,) = [k for k, line in enumerate(text.splitlines(), 1) if line.endswith(f"# {mark}")]
    return f"train.py:{number}:"


@pytest.mark.torch
def test_a_slow_loader_and_an_unfused_optimizer_are_found_with_their_lines(findings):
    found = findings(BAD)
    assert {"waiting_for_data", "unfused_optimizer"} <= set(found)
    assert any(line_of(BAD, "LOADING") in line for line in found["waiting_for_data"])
    assert any(line_of(BAD, "OPTIMIZER") in line for line in found["unfused_optimizer"])


@pytest.mark.torch
def test_nothing_is_found_in_a_good_loop(findings):
    assert set(findings(GOOD)) <= {"uneven_steps"}, "other programs of the machine may make steps uneven"


def test_reading_a_tensor_of_a_device_in_each_step_is_found_with_its_line(findings):
    found = findings(ON_A_DEVICE, {"MINDTORCH_NPU": "reference"})
    assert any(line_of(ON_A_DEVICE, "READING") in line for line in found["synchronising_calls"])


def test_a_loop_that_reads_nothing_does_not_wait(findings):
    text = ON_A_DEVICE.replace("    print(loss.item())  # READING\n", "")
    assert "synchronising_calls" not in findings(text, {"MINDTORCH_NPU": "reference"})
