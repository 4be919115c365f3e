"""The package as part of a process: import, threads, memory, examples."""

import gc
import gzip
import json
import os
import subprocess
import sys
import threading
import time

import mindtorch_v2 as torch
import pytest


def run(*command, timeout=300):
    result = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_the_import_needs_neither_numpy_nor_torch():
    code = "import sys, mindtorch_v2; print([m for m in ('numpy', 'torch', 'zipfile', 'inspect', 'typing') if m in sys.modules])"
    assert run("-S", "-E", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {code}").strip() == "[]"


def test_nothing_is_printed_at_exit():
    code = """
import mindtorch_v2 as torch
x = torch.ones(2, requires_grad=True)
x.register_hook(lambda g: None)
y = (x * x).sum()
keep = [x, y, torch.optim.SGD([x], lr=1)]
y.backward()
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_other_threads_run_while_a_large_op_computes():
    x = torch.rand(1500, 1500)
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)  # gives the GIL back

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # the interpreter does not take the GIL from us: only we can give it away
    try:
        thread.start()
        before = counted[0]
        x @ x
        after = counted[0]
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert after > before


def test_graphs_do_not_pile_up():
    def work():
        x = torch.ones(100, requires_grad=True)
        x.register_hook(lambda g: g)
        y = (x * 2).exp()
        y.sum().backward()
        return torch.autograd.grad((x * x).sum(), x)

    work()
    gc.collect()
    before = torch._runtime.cpu_memory_allocated()
    for _ in range(50):
        work()
    gc.collect()
    assert torch._runtime.cpu_memory_allocated() == before


def test_deep_graphs_are_taken_apart_without_recursion():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.sum().backward()
    del y
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("name", ["train_mlp.py", "train_cnn.py", "train_gpt.py"])
@pytest.mark.parametrize("device", ["cpu", "npu"])
def test_examples_train(name, device, project_root, monkeypatch):
    if device == "npu":
        monkeypatch.setitem(os.environ, "MINDTORCH_NPU", "reference")
    output = run(str(project_root / "examples" / name), "--steps", "12", "--device", device)
    assert f"in 12 steps on {device}" in output


def test_the_example_shows_what_the_profiler_saw(project_root, tmp_path):
    trace = tmp_path / "trace.json.gz"
    output = run(str(project_root / "examples" / "train_mlp.py"), "--steps", "8", "--profile", "--trace", str(trace))
    assert "aten::addmm" in output
    names = {event["name"] for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]}
    assert {"aten::addmm", "Optimizer.step#AdamW.step"} <= names
