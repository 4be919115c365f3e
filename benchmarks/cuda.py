"""Our profiler on a GPU against torch.profiler: a training step, the replay of a captured graph, and the answers to a recording.

Everything takes turns, round by round, in one process; what a profiler adds to a plain step is compared. Of the steps of a round the
fastest fifth counts, because whatever else the machine does only ever adds to a step. The time of a replay is the GPU's own, by CUDA
events.
Prints one JSON object a line, as benchmarks/harness.h does. Without a GPU it says so and ends.
"""

import contextlib
import importlib.util
import json
import os
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

BUILD = Path(os.environ["MINDTORCH_BUILD_DIR"])
sys.path.insert(0, str(BUILD / "python"))
os.environ.setdefault("MINDTORCH_TORCH_BRIDGE_DIR", str(BUILD / "torch_bridge"))

ROUNDS, STEPS = 15, 40
GRAPH_KERNELS, REPLAYS, GRAPH_ROUNDS = 2000, 20, 7
ANSWER_STEPS = 100
FLAGS = {"default": {}, "all": {"record_shapes": True, "profile_memory": True, "with_stack": True}}


def report(name, ours, peer, peer_value, unit, note):
    line = {
        "name": f"cuda/{name}",
        "ours": ours,
        "peer": peer,
        "peer_value": peer_value,
        "ratio": ours / peer_value if peer_value else None,
    }
    print(json.dumps(line | {"unit": unit, "note": note}), flush=True)


def training_step(torch):
    layers = [torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256)) for _ in range(4)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    batch = torch.randn(64, 256, device="cuda")

    def step():
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    for _ in range(20):
        step()
    torch.cuda.synchronize()
    return step


def profilers(torch):
    """{"ours": ..., "torch": ...}: functions that make a profile of CPU and GPU from flags."""
    from mindtorch_v2.profiler import _ExperimentalConfig, profile

    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    return {
        "ours": lambda **flags: profile(activities=["cpu", "cuda"], **flags),
        "torch": lambda **flags: torch.profiler.profile(activities=activities, **flags),
        "whole": lambda **flags: profile(activities=["cpu", "cuda"], experimental_config=_ExperimentalConfig(cuda_graphs="whole"), **flags),
    }


def seconds_per_step(torch, step, context):
    times = []
    with context:
        for _ in range(STEPS):
            start = time.perf_counter()
            step()
            times.append(time.perf_counter() - start)
        torch.cuda.synchronize()
    times.sort()
    return times[len(times) // 5]


def measure_steps(torch, make, step):
    for flags_name, flags in FLAGS.items():
        times = {"plain": [], "ours": [], "torch": []}
        for _ in range(ROUNDS):
            times["plain"].append(seconds_per_step(torch, step, contextlib.nullcontext()))
            for name in ("ours", "torch"):
                times[name].append(seconds_per_step(torch, step, make[name](**flags)))
        plain = statistics.median(times["plain"])
        added = {name: (statistics.median(times[name]) - plain) * 1e6 for name in ("ours", "torch")}
        report(f"step_{flags_name}", added["ours"], "torch.profiler", added["torch"], "us", f"added to a step of {plain * 1e6:.0f} us")


def gpu_ms_per_replay(torch, graph, context):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with context:
        graph.replay()
        begin.record()
        for _ in range(REPLAYS):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
    return begin.elapsed_time(end) / REPLAYS


def measure_graphs(torch, make):
    x = torch.ones(1024, device="cuda")
    for _ in range(3):
        x.mul_(1.0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(GRAPH_KERNELS):
            x.mul_(1.0)
    times = {"plain": [], "ours": [], "whole": [], "torch": []}
    for _ in range(GRAPH_ROUNDS):
        times["plain"].append(gpu_ms_per_replay(torch, graph, contextlib.nullcontext()))
        for name in ("whole", "ours", "torch"):
            times[name].append(gpu_ms_per_replay(torch, graph, make[name]()))
    medians = {name: statistics.median(values) for name, values in times.items()}
    note = f"GPU time of a replay of {GRAPH_KERNELS} kernels"
    report("graph_nodes", medians["ours"], "torch.profiler", medians["torch"], "ms", note)
    report("graph_whole", medians["whole"], "not profiled", medians["plain"], "ms", note)


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def timed(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def measure_answers(torch, make, step):
    found = {}
    for name in ("ours", "torch"):
        before = resident_bytes()
        with make[name]() as profile:
            for _ in range(ANSWER_STEPS):
                step()
            torch.cuda.synchronize()
        averages = timed(lambda p=profile: p.key_averages())
        grown = resident_bytes() - before
        with tempfile.TemporaryDirectory() as folder:
            export = timed(lambda p=profile, f=folder: p.export_chrome_trace(f"{f}/trace.json"))
        found[name] = (averages, export, grown)
        del profile
    note = f"a recording of {ANSWER_STEPS} steps"
    for index, (name, unit, scale) in enumerate([("key_averages", "ms", 1e3), ("export", "ms", 1e3), ("rss", "MB", 1e-6)]):
        report(name, found["ours"][index] * scale, "torch.profiler", found["torch"][index] * scale, unit, note)


def main():
    if importlib.util.find_spec("torch") is None:
        print("cuda: PyTorch is not installed", file=sys.stderr)
        return
    import torch

    if not torch.cuda.is_available():
        print("cuda: there is no GPU", file=sys.stderr)
        return
    from mindtorch_v2.torch_bridge import compiler

    compiler.build_if_needed()
    warnings.simplefilter("ignore")
    make, step = profilers(torch), training_step(torch)
    for name in make:  # the first profile of each loads libraries
        with make[name]():
            step()
    measure_steps(torch, make, step)
    measure_graphs(torch, make)
    measure_answers(torch, make, step)


if __name__ == "__main__":
    main()
