"""Our profiler on a GPU against torch.profiler: a training step, the replay of a captured graph, and the answers to a recording.

Everything takes turns, round by round, in one process; what a profiler adds to a plain step is compared. The rounds are short and many,
each begins with another profiler, and what is added is the median of the differences within a round, because the speed of the machine
changes from second to second. Of the steps of a round the fastest fifth counts, because whatever else the machine does only ever adds to
a step. The time of a replay is the GPU's own, by CUDA events.
Prints one JSON object per line, as benchmarks/harness.h does. Without a GPU it says so and ends.
"""

import contextlib
import ctypes
import functools
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

BUILD = Path(os.environ["MINDTORCH_BUILD_DIR"])
sys.path.insert(0, str(BUILD / "python"))
os.environ.setdefault("MINDTORCH_TORCH_BRIDGE_DIR", str(BUILD / "torch_bridge"))

ROUNDS, STEPS = 60, 10
GRAPH_KERNELS, REPLAYS, GRAPH_ROUNDS = 2000, 10, 15
ANSWER_STEPS = 100
MILLION_REPLAYS = 500  # of the graph
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


@functools.cache  # it is compiled
def floor(torch):
    """A function that makes the context of benchmarks/libtorch/cupti_floor.cpp."""
    from mindtorch_v2.torch_bridge import compiler

    out = BUILD / "cupti_floor.so"
    compiler.compile_library([Path(__file__).parent / "libtorch" / "cupti_floor.cpp"], out)
    library = ctypes.CDLL(str(out))
    library.start.restype = ctypes.c_char_p
    maps = Path("/proc/self/maps").read_text()
    cupti = next(line.split()[-1] for line in maps.splitlines() if "libcupti.so" in line)
    source = (Path(__file__).parent.parent / "mindtorch" / "sources" / "cupti" / "api_names.cpp").read_text()
    listed = re.search(r"kNoisyRuntimeCalls = {(.*?)};", source, re.DOTALL)[1]
    numbers = [int(number) for number in re.findall(r"\b(\d+),", listed)]
    noise = (ctypes.c_uint32 * len(numbers))(*numbers), len(numbers)

    @contextlib.contextmanager
    def context(with_arguments=False):
        problem = library.start(cupti.encode(), *noise, int(with_arguments))
        if problem is not None:
            raise RuntimeError(problem.decode())
        yield
        library.stop()

    return context


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


def in_turns(rounds, measure, contexts):
    """{name: [measure(context), a value for each round]} of functions that make contexts. Each round begins with the next of them."""
    values = {name: [] for name in contexts}
    names = list(contexts)
    for _ in range(rounds):
        for name in names:
            values[name].append(measure(contexts[name]()))
        names.append(names.pop(0))
    return values


def measure_steps(torch, make, step):
    for flags_name, flags in FLAGS.items():
        with_arguments = flags.get("record_shapes", False)
        contexts = {"plain": contextlib.nullcontext, "floor": functools.partial(floor(torch), with_arguments)}
        contexts |= {name: functools.partial(make[name], **flags) for name in ("ours", "torch")}
        times = in_turns(ROUNDS, lambda context: seconds_per_step(torch, step, context), contexts)
        added = {
            name: statistics.median(value - plain for value, plain in zip(values, times["plain"], strict=True)) * 1e6
            for name, values in times.items()
        }
        note = f"added to a step of {statistics.median(times['plain']) * 1e6:.0f} us"
        report(f"step_{flags_name}", added["ours"], "torch.profiler", added["torch"], "us", note)
        least = f"empty callbacks{' with arguments' if with_arguments else ''} and CUPTI with the same kinds"
        report(f"least_{flags_name}", added["floor"], "torch.profiler", added["torch"], "us", f"{least}, {note}")
        if not flags:
            report("floor", added["ours"], least, added["floor"], "us", note)


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


def captured_graph(torch, x, context):
    """A graph of many kernels that change x, captured inside of the context."""
    for _ in range(3):
        x.mul_(1.0)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with context, torch.cuda.graph(graph):
        for _ in range(GRAPH_KERNELS):
            x.mul_(1.0)
    return graph


def measure_graphs(torch, make):
    x = torch.ones(1024, device="cuda")
    graph = captured_graph(torch, x, contextlib.nullcontext())
    contexts = {"plain": contextlib.nullcontext, "floor": floor(torch), "ours": make["ours"], "torch": make["torch"]}
    times = in_turns(GRAPH_ROUNDS, lambda context: gpu_ms_per_replay(torch, graph, context), contexts)
    medians = {name: statistics.median(values) for name, values in times.items()}
    note = f"GPU time of a replay of {GRAPH_KERNELS} kernels"
    report("graph_nodes", medians["ours"], "CUPTI with the same kinds", medians["floor"], "ms", note)
    report("graph_nodes_torch", medians["ours"], "torch.profiler", medians["torch"], "ms", note)


def measure_whole_graphs(torch, make):
    """CUPTI records the replays of graphs that are captured while it records whole graphs; that of CUDA 13.0 cannot do so."""
    x = torch.ones(1024, device="cuda")
    graph = captured_graph(torch, x, make["whole"]())
    with make["whole"]() as profile:
        graph.replay()
        torch.cuda.synchronize()
    note = f"GPU time of a replay of {GRAPH_KERNELS} kernels"
    if not any(row.key.startswith("CUDA graph") for row in profile.key_averages()):
        return report("graph_whole", None, "not profiled", None, "ms", f"{note}; this CUPTI does not record graphs as a whole")
    contexts = {"plain": contextlib.nullcontext, "whole": make["whole"]}
    times = in_turns(GRAPH_ROUNDS, lambda context: gpu_ms_per_replay(torch, graph, context), contexts)
    report("graph_whole", statistics.median(times["whole"]), "not profiled", statistics.median(times["plain"]), "ms", note)


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
    for index, (name, unit, scale) in enumerate([("key_averages", "ms", 1e3), ("export", "ms", 1e3), ("rss_steps", "MB", 1e-6)]):
        report(name, found["ours"][index] * scale, "torch.profiler", found["torch"][index] * scale, unit, note)


def grown_by_a_million(torch, make):
    """What a recording of a million kernels of graphs adds to the resident memory of this process, with how many were recorded."""
    x = torch.ones(1024, device="cuda")
    graph = captured_graph(torch, x, make())
    before = resident_bytes()
    with make() as profile:
        for _ in range(MILLION_REPLAYS):
            graph.replay()
        torch.cuda.synchronize()
    # Torch needs minutes for its averages of a million kernels, and more memory; its recording alone is counted.
    is_ours = "mindtorch" in type(profile).__module__
    kernels = sum(row.count for row in profile.key_averages() if "elementwise" in row.key) if is_ours else None
    print(json.dumps([resident_bytes() - before, kernels]))


def measure_memory():
    """Each profiler in a process of its own. Torch is told to keep as much as CUPTI gives, not 128 MB."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "kineto.conf"
        config.write_text("ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=4096\n")
        for name in ("ours", "torch"):
            environment = os.environ | {"KINETO_CONFIG": str(config)}
            done = subprocess.run(
                [sys.executable, __file__, "--million", name], env=environment, capture_output=True, text=True, timeout=300
            )
            if done.returncode != 0:
                print(f"cuda/rss: {name} failed: {done.stderr[-300:]}", file=sys.stderr)
                return
            found[name] = json.loads(done.stdout.splitlines()[-1])
    note = f"a recording of {found['ours'][1]} kernels of graphs, answered"
    report("rss", found["ours"][0] / 1e6, "torch.profiler", found["torch"][0] / 1e6, "MB", note)


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
    if "--million" in sys.argv:
        return grown_by_a_million(torch, profilers(torch)[sys.argv[-1]])
    make, step = profilers(torch), training_step(torch)
    for name in make:  # the first profile of each loads libraries
        with make[name]():
            step()
    measure_steps(torch, make, step)
    measure_graphs(torch, make)
    measure_whole_graphs(torch, make)
    measure_answers(torch, make, step)
    measure_memory()


if __name__ == "__main__":
    main()
