"""Profiles programs with calls from CUPTI's callbacks and from its records in turn, in a process in which nothing else has used CUPTI.

Prints a JSON object: for each program that is named on the command line what either way told, or why it could not be run.
"""

import collections
import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path

import gpu_programs
import torch
from mindtorch_v2 import profiler

WAYS = ("records", "callbacks")


def graph_replays():
    x = torch.ones(1024, device="cuda")
    x.mul_(2)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with profiler.profile(activities=["cpu", "cuda"]), torch.cuda.graph(graph):
        for _ in range(20):
            x.mul_(1.0)
        x.sum()

    def step():
        for _ in range(5):
            graph.replay()

    return step


class Dim3(ctypes.Structure):
    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))


def failing_calls():
    """A launch and an allocation that are refused, between kernels that run."""
    x = torch.ones(64, device="cuda")
    maps = Path("/proc/self/maps").read_text()
    runtime = ctypes.CDLL(next(line.split()[-1] for line in maps.splitlines() if "libcudart.so" in line))
    nowhere = ctypes.c_void_p()

    def step():
        x.mul_(2)
        assert runtime.cudaLaunchKernel(None, Dim3(1, 1, 1), Dim3(1, 1, 1), None, ctypes.c_size_t(0), None) != 0
        assert runtime.cudaMalloc(ctypes.byref(nowhere), ctypes.c_size_t(1 << 60)) != 0
        runtime.cudaGetLastError()
        x.mul_(0.5)
        x.cpu()

    return step


def told(step, way):
    os.environ["MINDTORCH_CUPTI_RECORDS"] = "calls" if way == "records" else ""
    config = profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    with profiler.profile(activities=["cpu", "cuda"], experimental_config=config) as prof:
        step()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        prof.export_chrome_trace(str(path))
        trace = json.loads(path.read_text())
    events = trace["traceEvents"]
    ops = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")}
    facts = collections.Counter()
    threads = collections.defaultdict(list)
    early = 0
    for event in events:
        kind, args = event.get("cat"), event.get("args", {})
        if kind in ("cuda_runtime", "cuda_driver"):
            op = ops.get(args.get("External id"))
            facts[f"{kind} {event['name']} {args.get('cbid')} in {op}"] += 1
            threads[event["tid"]].append((event["ts"], event["name"]))
        elif kind in ("kernel", "gpu_memcpy", "gpu_memset"):
            call = calls.get(args["correlation"], {"name": None})
            facts[f"{kind} {event['name']} of {call['name']} in {ops.get(args.get('External id'))} by {args.get('captured by')}"] += 1
            early += call["name"] is not None and event["ts"] < call["ts"]
        elif kind == "cuda_sync":
            facts[f"{kind} {event['name']}"] += 1
    order = sorted(" ".join(name for _, name in sorted(each)) for each in threads.values())
    return {
        "calls": trace["cupti_calls"],
        "facts": dict(sorted(facts.items())),
        "order": order,
        "early": early,
        "losses": [str(loss) for loss in prof.losses()],
    }


def compare(step):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    for way in WAYS:  # the first profile of a program may have it load modules
        told(step, way)
    return {way: told(step, way) for way in WAYS}


def main():
    found = {}
    for name in sys.argv[1:]:
        torch.manual_seed(0)
        make = globals().get(name) or getattr(gpu_programs, name)
        try:
            found[name] = compare(make())
        except Exception as error:
            found[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
