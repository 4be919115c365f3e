"""The Python examples of the documentation run, in the order in which a reader meets them."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import mindtorch_v2
import pytest
from mindtorch_v2.compat import take_over

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "runtime").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
USES_NPU = 'device="npu"'
IMPORTS_TORCH = re.compile(r"^import torch$", re.MULTILINE)


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True)
def nothing_is_taken_over_by_an_example():
    """An example may take over torch.profiler for the rest of its program; here, other tests follow it."""
    yield
    while take_over._handles:
        take_over._handles[-1].undo()


def examples():
    for page in PAGES:
        for number, source in enumerate(BLOCK.findall(page.read_text()), start=1):
            marks = [pytest.mark.torch] if IMPORTS_TORCH.search(source) else []
            yield pytest.param(source, id=f"{name_of(page)}-{number}", marks=marks)


def run_on_npu(source):
    """What an example prints in a process of its own, on the reference NPU."""
    environment = os.environ | {"MINDTORCH_NPU": "reference", "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", source], env=environment, check=True, capture_output=True, text=True).stdout


def make_train_step(torch):
    """What examples call `train_step`: a step of a small model, in whichever torch the example has imported."""
    layer = torch.nn.Linear(8, 4)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)

    def train_step():
        optimizer.zero_grad()
        layer(torch.ones(2, 8)).sum().backward()
        optimizer.step()

    return train_step


@pytest.mark.parametrize("source", list(examples()))
def test_an_example_runs_as_it_stands(source, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if USES_NPU in source:
        assert run_on_npu(source).strip()
        return
    torch = request.getfixturevalue("bridged_torch") if IMPORTS_TORCH.search(source) else mindtorch_v2
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, "example", "exec"), {"__name__": "__main__", "train_step": make_train_step(torch)})
    assert "print(" not in source or output.getvalue().strip()
