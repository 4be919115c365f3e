"""For the tests of the profiler: ops without a tensor runtime, and programs run on their own."""

import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest


@pytest.fixture
def op():
    """op("aten::mul", [2, 3]) records a call of an op with tensors of these shapes, as a dispatcher written in Python does."""
    from mindtorch_v2.profiler import dispatch_op_enter, dispatch_op_exit

    def call(name, *shapes, device="cpu"):
        tensors = tuple(SimpleNamespace(shape=tuple(shape)) for shape in shapes)
        dispatch_op_exit(dispatch_op_enter(name, device, tensors, {}))

    return call


@pytest.fixture
def prof(op):
    """A profile of three ops inside a scope, with shapes, stacks and memory."""
    from mindtorch_v2.profiler import profile, record_function

    with profile(record_shapes=True, with_stack=True, profile_memory=True) as prof, record_function("outer"):
        op("aten::mul", [2, 3], [2, 3])
        op("aten::mul", [4, 4], [4, 4])
        op("aten::add", [2, 3])
    return prof


@pytest.fixture
def run_program():
    """Runs Python text in a process of its own; returns what it printed."""

    def run(text, **environment):
        done = subprocess.run(
            [sys.executable, "-c", text], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def trace_of(tmp_path):
    """The exported trace of a profile, read back."""

    def export(prof):
        path = tmp_path / "trace.json"
        prof.export_chrome_trace(path)
        return json.loads(path.read_text())

    return export


@pytest.fixture
def at_most_100():
    """torch's table with shares of 100 % at most: it counts a call inside a call of the same name twice."""

    def capped(share):
        return share[0] if float(share[0][:-1]) <= 100 else "100.00%".rjust(len(share[0]))

    return lambda table: re.sub(r"(?<![-\d])\d+\.\d\d%", capped, table)


@pytest.fixture(scope="module")
def training():
    """torch's profile of a small training program, with everything recorded."""
    import torch

    model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_flops=True,
        experimental_config=torch.profiler._ExperimentalConfig(verbose=True),
    ) as prof:
        for _ in range(2):
            with torch.profiler.record_function("a scope with a rather long name that has to be cut somewhere"):
                model(torch.ones(2, 1, 8, 8)).sum().backward()
            optimizer.step()
    return prof
