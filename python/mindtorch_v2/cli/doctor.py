"""mtprof doctor: what can be recorded on this machine, with which libraries, and whether it works. One text to paste into a bug report."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import mindtorch_v2
from mindtorch_v2 import _C, __version__, torch_bridge
from mindtorch_v2.profiler import ProfilerActivity, dispatch_op_enter, dispatch_op_exit, profile, record_function, status

# What decides which libraries are found and what they record.
VARIABLES = (
    "ASCEND_HOME_PATH",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_TOOLKIT_HOME",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MINDTORCH_CUPTI_RECORDS",
    "MINDTORCH_LIBRARY_PATH",
    "MINDTORCH_NPU",
    "TASK_QUEUE_ENABLE",
)
PACKAGES = ("torch", "torch_npu", "numpy")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="mtprof doctor", description=__doc__)
    parser.add_argument("--no-torch", action="store_true", help="do not import PyTorch, even if it is installed")
    arguments = parser.parse_args(argv)
    torch = None if arguments.no_torch else _import_torch()
    for line in _versions():
        print(line)
    for line in _what_can_be_recorded():
        print(line)
    print("\nself-test", flush=True)
    checks = list(_checks(torch))
    failed = [name for name, check in checks if not _passes(name, check)]
    print(f"\n{len(checks)} checks, {len(failed)} failed" + (f": {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


def _import_torch():
    """PyTorch if it is installed, with torch_npu beside it. A torch_npu that cannot be imported is told by the line of its version."""
    try:
        import torch
    except ImportError:
        return None
    with contextlib.suppress(ImportError):
        import torch_npu  # noqa: F401
    return torch


def _versions() -> Iterator[str]:
    yield f"MindTorch Profiler {__version__}, from {Path(_C.__file__).parent}"
    yield f"  Python {platform.python_version()}, {platform.platform()}"
    yield f"  {_processor()}, {os.cpu_count()} cores"
    for package in PACKAGES:
        try:
            found = version(package)
        except PackageNotFoundError:
            continue
        note = ""
        if package == "torch_npu" and "torch_npu" not in sys.modules:
            note = " (installed, but it cannot be imported)"
        yield f"  {package} {found}{note}"
    for name in VARIABLES:
        if os.environ.get(name):
            yield f"  {name}={os.environ[name]}"


def _processor() -> str:
    """The name of the CPU, or of its architecture where the system does not tell more."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _what_can_be_recorded() -> Iterator[str]:
    yield "\nwhat can be recorded"
    found = status()
    yield f"  clock: {found.clock}"
    yield f"  hosts: {', '.join(found.hosts) or 'none'}"
    for name, state in found.bridges.items():
        yield f"  bridge to {name}: {state}"
    facts = _C.diagnose_sources()
    for source in found.sources:
        yield f"  {source.activity.name} through {source.name}: " + ("available" if source.available else f"not available: {source.reason}")
        for name, value in facts.get(source.name, []):
            yield f"    {name}: {value or 'unknown'}"
        if source.advice:
            yield f"    to do: {source.advice}"


def _passes(name: str, check: Callable[[], str | None]) -> bool:
    """Runs a check, prints what is wrong and what it was warned about, and says whether nothing is wrong."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            problem = check()
        except Exception as error:  # a report must be whole whatever goes wrong
            problem = f"{type(error).__name__}: {error}"
    print(f"  {name}: {problem or 'ok'}", flush=True)
    for warning in dict.fromkeys(str(each.message) for each in warned):
        print(f"    warning: {warning}")
    return problem is None


def _checks(torch) -> Iterator[tuple[str, Callable[[], str | None]]]:
    """Names of checks, and functions that say what is wrong, None if nothing."""
    yield "clock", _check_clock
    yield "ops and scopes of the CPU", _check_cpu
    yield "trace file", _check_trace
    if torch is not None:
        yield "ops of PyTorch", lambda: _check_torch(torch, "cpu")
    for source in status().sources:
        if not source.available:
            continue
        name = source.activity.name
        device = name.lower()
        if torch is not None and hasattr(torch, device) and getattr(torch, device).is_available():
            yield f"kernels of PyTorch on {name}", lambda device=device: _check_torch(torch, device)
        elif device == "npu":
            yield "kernels of the embedded runtime on NPU", _check_embedded_npu
        else:
            yield f"kernels on {name}", lambda: "not tried: no program that uses the device is installed (PyTorch for CUDA)"


def _check_clock() -> str | None:
    """A scope that lasts a known time. The system's clock is read right before and after each of its ends."""
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        before = time.perf_counter_ns()
        with record_function("scope"):
            begin = time.perf_counter_ns()
            while time.perf_counter_ns() < begin + 20_000_000:
                pass
            end = time.perf_counter_ns()
        after = time.perf_counter_ns()
    recorded = next(event for event in prof.events() if event.name == "scope").time_range.elapsed_us() * 1000
    tolerance = 0.01 * (after - before)  # a busy machine may disturb the comparison of two clocks
    if not end - begin - tolerance <= recorded <= after - before + tolerance:
        return f"a scope of {(end - begin) / 1e6:.3f} to {(after - before) / 1e6:.3f} ms was recorded with {recorded / 1e6:.3f} ms"
    return None


def _check_cpu() -> str | None:
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        for _ in range(1000):
            with record_function("scope"):
                dispatch_op_exit(dispatch_op_enter("doctor::op", "cpu", (), {}))
    counts = {row.key: row.count for row in prof.key_averages()}
    if counts.get("scope") != 1000 or counts.get("doctor::op") != 1000:
        return f"1000 scopes and 1000 ops were run, {counts} were recorded"
    starts = [event.time_range.start for event in prof.events()]
    if starts != sorted(starts):
        return "events are not in the order of their times"
    return _losses(prof)


def _check_trace() -> str | None:
    with profile(activities=[ProfilerActivity.CPU]) as prof, record_function("scope"):
        pass
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        prof.export_chrome_trace(str(path))
        names = {event.get("name") for event in json.loads(path.read_text())["traceEvents"]}
    return None if "scope" in names else "the trace lacks the scope that was recorded"


def _check_torch(torch, device: str) -> str | None:
    state = torch_bridge.activate_if_possible()
    if state.startswith("inactive"):
        return state
    x = torch.ones(256, 256, device=device)
    with profile() as prof:
        for _ in range(10):
            x = torch.mm(x, x)
        if device != "cpu":
            getattr(torch, device).synchronize()
    row = next((row for row in prof.key_averages() if row.key == "aten::mm"), None)
    if row is None or row.count < 10:  # more if the device computes it through an op of the same name
        return f"10 products were computed, {row.count if row else 0} were recorded"
    if device != "cpu" and row.device_time_total <= 0:
        return "no kernel was recorded under the op. " + (_losses(prof) or "Nothing is reported as lost.")
    return _losses(prof)


def _check_embedded_npu() -> str | None:
    if not mindtorch_v2.npu.is_available():
        return "not tried: neither torch_npu nor an NPU of the embedded runtime is there"
    x = mindtorch_v2.ones((64, 64), device="npu")
    with profile() as prof:
        for _ in range(10):
            x = x + 1
        mindtorch_v2.npu.synchronize()
    kernels = [event for event in prof.events() if event["kind"] == "kernel"]
    if len(kernels) != 10:
        return f"10 kernels were launched, {len(kernels)} were recorded"
    return _losses(prof)


def _losses(prof) -> str | None:
    lost = prof.losses()
    return "; ".join(str(each) for each in lost) if lost else None
