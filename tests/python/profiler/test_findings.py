"""What the report finds in bad loops and in good ones.

Findings depend on shares of time. They are therefore judged from a trace whose times are given, as torch.profiler writes it on a machine
with a GPU. Programs that run show what does not depend on time: which phase each line of theirs belongs to, and what is never found.
"""

import json
import os
import re
import subprocess
import sys

import pytest

FOUR = {"waiting_for_data", "synchronising_calls", "unfused_optimizer", "float32_matmuls"}


class Loop:
    """Ten steps of train.py on a GPU. Times are microseconds; lines are those of the calls."""

    def __init__(self, *, loader_us, item_us, optimizer_op, optimizer_ops, kernel):
        self.events, self.now, self.correlation = [], 1000.0, 0
        for step in range(10):
            begin = self.now
            self.add("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", loader_us, 10, "user_annotation")
            for _ in range(4):
                self.launch("aten::mm", 150.0, 11, kernel, 145.0)
            if item_us:
                self.add("aten::_local_scalar_dense", item_us, 12)
            optimizer = self.now
            for _ in range(optimizer_ops):
                self.add(optimizer_op, 100.0 / optimizer_ops, 13)
            self.add("Optimizer.step#AdamW.step", self.now - optimizer, 13, "user_annotation", at=optimizer)
            self.add(f"ProfilerStep#{step}", self.now - begin, 9, "user_annotation", at=begin)

    def add(self, name, duration, line, category="cpu_op", at=None, **arguments):
        place = {"pid": 1, "tid": 1, "ts": self.now if at is None else at, "dur": duration}
        stack = f"train.py({line}): main;train.py(40): <module>"
        self.events.append({"ph": "X", "cat": category, "name": name, **place, "args": {"Call stack": stack, **arguments}})
        if at is None:
            self.now += duration

    def launch(self, name, duration, line, kernel, kernel_us):
        self.correlation += 1
        start = self.now
        self.add("cudaLaunchKernel", 4.0, line, "cuda_runtime", at=start + 1, correlation=self.correlation)
        arguments = {"correlation": self.correlation, "device": 0, "stream": 7}
        device = {"pid": 0, "tid": 7, "ts": start + 5, "dur": kernel_us}
        self.events.append({"ph": "X", "cat": "kernel", "name": kernel, **device, "args": arguments})
        self.add(name, duration, line)


BAD_LOOP = {
    "loader_us": 300.0,
    "item_us": 200.0,
    "optimizer_op": "aten::addcmul_",
    "optimizer_ops": 100,
    "kernel": "ampere_sgemm_128x64_tn",
}
GOOD_LOOP = {
    "loader_us": 5.0,
    "item_us": 0,
    "optimizer_op": "aten::_fused_adamw_",
    "optimizer_ops": 1,
    "kernel": "ampere_bf16_s16816gemm_bf16",
}


@pytest.fixture
def report(tmp_path, program):
    """The findings about a file, {id: finding}, and the data of its page."""

    def make(file):
        command = [program("mtprof"), "report", file, "-o", "page.html", "--json"]
        found = json.loads(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout)["findings"]
        data = re.search(r'id="report-data">(.*?)</script>', (tmp_path / "page.html").read_text(), re.DOTALL)[1]
        return {finding["id"]: finding for finding in found}, json.loads(data)

    return make


@pytest.fixture
def findings_of_loop(tmp_path, report):
    def find(**loop):
        (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": Loop(**loop).events}))
        return report("trace.json")[0]

    return find


def test_a_bad_loop_gets_four_findings_with_their_lines_and_costs(findings_of_loop):
    found = findings_of_loop(**BAD_LOOP)
    assert {name: finding["lines"] for name, finding in found.items()} == {
        "waiting_for_data": ["train.py:10:main"],
        "float32_matmuls": ["train.py:11:main"],
        "synchronising_calls": ["train.py:12:main"],
        "unfused_optimizer": ["train.py:13:main"],
    }
    costs = {name: finding["cost_ns"] for name, finding in found.items()}
    assert costs == {
        "waiting_for_data": 300_000,
        "float32_matmuls": 4 * 145_000,
        "synchronising_calls": 200_000,
        "unfused_optimizer": pytest.approx(100_000, abs=100),
    }


# Each step: 300 us of loading, 600 us in which the host launches products that take 580 us on the device, 200 us of waiting, the optimizer.
def test_findings_predict_what_their_remedies_bring(tmp_path, report, program):
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": Loop(**BAD_LOOP).events}))
    found, page = report("trace.json")
    prediction = page["prediction"]
    step = prediction["step_ns"]
    assert step == prediction["replayed_ns"] == prediction["base_ns"] == pytest.approx(1_200_000, abs=1000) and prediction["problem"] == ""
    # Four workers load beside the steps.
    assert found["waiting_for_data"]["predicted_step_ns"] == pytest.approx(step - 300_000, abs=1000)
    # The host needs as long to launch the products as the device to compute them.
    assert found["float32_matmuls"]["predicted_step_ns"] == step
    assert 0 < found["unfused_optimizer"]["predicted_step_ns"] < step
    gains = [finding["predicted_step_ns"] for finding in page["findings"]]
    assert gains == sorted(gains)
    combined = prediction["combined_ns"]
    assert combined == sorted(combined, reverse=True) and combined[0] == gains[0] and len(combined) == 4
    text = subprocess.run(
        [program("mtprof"), "report", "--text", "trace.json"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert (
        "no gain: a step would still take 1.200ms" in text and "   step 1.200ms -> 900" in text and "The first three together: step" in text
    )


def test_a_good_loop_gets_no_finding(findings_of_loop):
    assert findings_of_loop(**GOOD_LOOP) == {}


@pytest.mark.parametrize(
    ("finding", "changed"),
    [
        ("waiting_for_data", {"loader_us": 300.0}),
        ("synchronising_calls", {"item_us": 200.0}),
        ("unfused_optimizer", {"optimizer_op": "aten::addcmul_", "optimizer_ops": 100}),
        ("float32_matmuls", {"kernel": "ampere_sgemm_128x64_tn"}),
    ],
)
def test_each_problem_gets_its_own_finding_and_no_other(findings_of_loop, finding, changed):
    assert set(findings_of_loop(**{**GOOD_LOOP, **changed})) == {finding}


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
    loss = model(batch).square().mean()  # FORWARD
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # OPTIMIZER
    print(loss.item())  # READING
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
def profiled(tmp_path, program, report):
    """The report about a program text."""

    def run(text, environment=None):
        (tmp_path / "train.py").write_text(text)
        chosen = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
        command = [sys.executable, "-m", "mindtorch_v2.profiler", "run", "--stack", "-o", "train.mtrec", "train.py"]
        done = subprocess.run(command, cwd=tmp_path, env=chosen, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return report("train.mtrec")

    return run


def line_of(text, mark):
    (number,) = [k for k, line in enumerate(text.splitlines(), 1) if line.endswith(f"# {mark}")]
    return f"train.py:{number}:"


def phases_at(data, place):
    """The phases of the ops at a line."""
    rows = [row for row in data["opsByLine"]["rows"] if place in data["names"][row[11]]]
    return {data["phases"]["host"][row[2]] for row in rows}


@pytest.mark.torch
def test_the_lines_of_a_bad_program_belong_to_the_phases_that_findings_are_about(profiled, bridged_torch):
    found, data = profiled(BAD)
    assert phases_at(data, line_of(BAD, "LOADING")) == {"data loading"}
    assert phases_at(data, line_of(BAD, "OPTIMIZER")) == {"optimizer"}
    assert "forward" in phases_at(data, line_of(BAD, "READING")), "without a device, .item() waits for nothing"
    assert "forward" in phases_at(data, line_of(BAD, "FORWARD"))
    calls = sum(row[3] for row in data["ops"]["rows"] if row[2] == data["phases"]["host"].index("optimizer"))
    assert calls / data["steps"]["count"] > 50, "many ops, none of them fused"
    for name, mark in (("waiting_for_data", "LOADING"), ("unfused_optimizer", "OPTIMIZER")):
        if name in found:  # on a machine that has other work, one may take less than its share of a step
            assert any(line_of(BAD, mark) in line for line in found[name]["lines"])


@pytest.mark.torch
def test_a_good_program_has_none_of_the_four_problems(profiled, bridged_torch):
    assert not FOUR & set(profiled(GOOD)[0])


def test_reading_a_tensor_of_a_device_is_waiting(profiled):
    found, data = profiled(ON_A_DEVICE, {"MINDTORCH_NPU": "reference"})
    place = line_of(ON_A_DEVICE, "READING")
    assert phases_at(data, place) == {"waiting for the device"} and data["hasDevice"]
    if "synchronising_calls" in found:
        assert any(place in line for line in found["synchronising_calls"]["lines"])


def test_a_loop_that_reads_nothing_does_not_wait(profiled):
    text = ON_A_DEVICE.replace("    print(loss.item())  # READING\n", "")
    assert "synchronising_calls" not in profiled(text, {"MINDTORCH_NPU": "reference"})[0]
