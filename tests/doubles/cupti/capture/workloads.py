"""Runs one small PyTorch program on a GPU and captures its raw CUPTI activity, or what torch.profiler makes of it.

Usage: workloads.py LIBRARY NAME FILE, with the library that capture.sh builds and the name of a function below;
       workloads.py torch.profiler NAME FILE writes what torch.profiler sees on the device in the same program.
"""

import collections
import contextlib
import ctypes
import json
import os
import sys
import tempfile

import torch
from torch import nn


class Capture:
    """The capture library, loaded beside the libcupti that PyTorch has loaded."""

    def __init__(self, library, path):
        self.library = ctypes.CDLL(library)
        self.library.cupti_capture_start.restype = ctypes.c_bool
        self.library.cupti_capture_stop.restype = ctypes.c_bool
        self.library.cupti_capture_stop.argtypes = [ctypes.c_char_p]
        self.path = path

    @contextlib.contextmanager
    def window(self):
        torch.cuda.synchronize()
        if not self.library.cupti_capture_start():
            sys.exit("the capture did not start")
        yield
        torch.cuda.synchronize()
        if not self.library.cupti_capture_stop(self.path.encode()):
            sys.exit("the capture is not whole")


class TorchProfiler:
    """Counts the device activities that torch.profiler reports, with all that identifies each."""

    KEYS = ("grid", "block", "bytes", "stream", "registers per thread", "shared memory")

    def __init__(self, path):
        self.path = path

    @contextlib.contextmanager
    def window(self):
        torch.cuda.synchronize()
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profiler:
            yield
            torch.cuda.synchronize()
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "trace.json")
            profiler.export_chrome_trace(trace)
            with open(trace) as file:
                events = json.load(file)["traceEvents"]
        with open(self.path, "w") as file:
            json.dump(self.summary(events), file, indent=1)

    def summary(self, events):
        ops = {event["args"]["External id"]: event["name"] for event in events if event.get("cat") == "cpu_op"}
        counts = collections.Counter()
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                arguments = event["args"]
                identity = {key: arguments[key] for key in self.KEYS if key in arguments}
                identity |= {"category": event["cat"], "name": event["name"], "op": ops.get(arguments.get("External id"))}
                counts[json.dumps(identity, sort_keys=True)] += 1
        return [{"count": count} | json.loads(identity) for identity, count in sorted(counts.items())]


def train(model, optimizer, batch, target, scaler=None):
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16, enabled=scaler is not None):
        loss = nn.functional.cross_entropy(model(batch), target)
    if scaler is None:
        loss.backward()
        optimizer.step()
    else:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return loss.item()


def steps_in_window(capture, step, count=3):
    """Loads kernels and libraries in two steps that nobody captures, then captures `count` steps."""
    for _ in range(2):
        step()
    with capture.window():
        for _ in range(count):
            step()


def mlp(capture):
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    batch, target = torch.randn(128, 256), torch.randint(10, (128,))
    steps_in_window(capture, lambda: train(model, optimizer, batch.cuda(), target.cuda()))


def cnn_amp(capture):
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    ).cuda()  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")
    batch, target = torch.randn(16, 3, 32, 32).pin_memory(), torch.randint(10, (16,)).pin_memory()
    steps_in_window(capture, lambda: train(model, optimizer, batch.cuda(non_blocking=True), target.cuda(non_blocking=True), scaler))


def transformer_sdpa(capture):
    layer = nn.TransformerEncoderLayer(256, 4, 512, batch_first=True, norm_first=True)
    model = nn.Sequential(
        nn.Embedding(1000, 256), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.Linear(64 * 256, 10)
    )
    model = model.cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    batch, target = torch.randint(1000, (8, 64), device="cuda"), torch.randint(10, (8,), device="cuda")
    steps_in_window(capture, lambda: train(model, optimizer, batch, target))


def two_streams(capture):
    copies, work = torch.cuda.Stream(), torch.cuda.Stream()
    hosts = [torch.randn(256, 256).pin_memory() for _ in range(4)]
    back = torch.empty(256, 256).pin_memory()
    weight = torch.randn(256, 256, device="cuda")

    def step():
        for host in hosts:
            with torch.cuda.stream(copies):
                data = host.cuda(non_blocking=True)
                arrived = torch.cuda.Event()
                arrived.record()
            with torch.cuda.stream(work):
                work.wait_event(arrived)
                data.record_stream(work)
                out = torch.zeros_like(data).copy_((data @ weight).relu())
                back.copy_(out, non_blocking=True)
        work.synchronize()

    steps_in_window(capture, step)


def cuda_graph(capture):
    model = nn.Sequential(*[nn.Sequential(nn.Linear(128, 128), nn.GELU(), nn.LayerNorm(128)) for _ in range(8)]).cuda()
    batch = torch.randn(64, 128, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(3):
            model(batch)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with capture.window():
        with torch.no_grad(), torch.cuda.graph(graph):
            out = model(batch).sum()
            out.zero_()
        for _ in range(5):
            batch.copy_(torch.randn(64, 128))
            graph.replay()
        model(batch).sum().item()


if __name__ == "__main__":
    library, name, path = sys.argv[1:]
    torch.manual_seed(0)
    globals()[name](TorchProfiler(path) if library == "torch.profiler" else Capture(library, path))
