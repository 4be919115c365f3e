"""Our profiler on a GPU against torch.profiler: steps of programs, the replay of a captured graph, and the answers to a recording.

What is compared is what a profiler adds to a plain step. Once torch.profiler has run, it keeps CUPTI's callbacks for the life of the
process, so that each profiler has processes of its own, which take turns. Within a process everything takes turns, round by round. The
rounds are short and many, each begins with another profiler, and what is added is the median of the differences within a round, because
the speed of the machine changes from second to second. Of the steps of a round the fastest fifth counts, because whatever else the
machine does only ever adds to a step. A line has the median of the processes, and their range in its note. The time of a replay is the
GPU's own, by CUDA events.
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
os.environ.setdefault("MINDTORCH_LIBRARY_PATH", f"torch_bridge={BUILD}/torch_bridge")

PROCESSES = 3  # of each profiler
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


def mlp(torch):
    layers = [torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256)) for _ in range(4)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    batch = torch.randn(64, 256, device="cuda")

    def step():
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


def gpt2(torch):
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config()).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    tokens = torch.randint(0, 50257, (2, 256), device="cuda")

    def step():
        optimizer.zero_grad()
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()

    return step


def resnet(torch):
    from torchvision.models import resnet50

    model = resnet50().cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    images = torch.randn(8, 3, 224, 224, device="cuda").contiguous(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (8,), device="cuda")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    return step


def decode(torch):
    """A token of a Llama's text for each step."""
    from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 1024, "intermediate_size": 2816, "num_hidden_layers": 16, "num_attention_heads": 16}
    model = LlamaForCausalLM(LlamaConfig(**sizes)).cuda().bfloat16().eval()
    token, cache = torch.zeros(1, 1, dtype=torch.long, device="cuda"), DynamicCache()

    def step():
        nonlocal token, cache
        with torch.no_grad():
            token = model(token, past_key_values=cache, use_cache=True).logits.argmax(-1)
        if cache.get_seq_length() == 512:
            cache = DynamicCache()

    return step


# Each program, how many steps a context has, and how many rounds there are.
PROGRAMS = {mlp: (10, 12), gpt2: (5, 8), resnet: (5, 6), decode: (10, 6)}


def warmed_up(torch, program):
    step = program(torch)
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


# Parts of benchmarks/libtorch/cupti_floor.cpp.
OPS, ARGUMENTS, WORK, CALL_CALLBACKS, RUNTIME_RECORDS, DRIVER_RECORDS = (1 << bit for bit in range(6))
FLOOR = OPS | WORK | CALL_CALLBACKS
PARTS = {
    "op callbacks": OPS,
    "work records": WORK,
    "op callbacks, work records": OPS | WORK,
    "op callbacks, work records, call callbacks": FLOOR,
    "op callbacks, work records, runtime records": OPS | WORK | RUNTIME_RECORDS,
    "op callbacks, work records, runtime and driver records": OPS | WORK | RUNTIME_RECORDS | DRIVER_RECORDS,
}


@functools.cache  # it is compiled
def floor(torch):
    """A function that makes a context of some parts of benchmarks/libtorch/cupti_floor.cpp."""
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
    def context(parts=FLOOR):
        problem = library.start(cupti.encode(), *noise, parts)
        if problem is not None:
            raise RuntimeError(problem.decode())
        yield
        library.stop()

    return context


def seconds_per_step(torch, step, steps, context):
    times = []
    with context:
        for _ in range(steps):
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


@contextlib.contextmanager
def with_call_records(context):
    os.environ["MINDTORCH_CUPTI_RECORDS"] = "calls"
    with context:
        yield
    del os.environ["MINDTORCH_CUPTI_RECORDS"]


def contexts_of(profiler, torch, make):
    """{name: a function that makes a context} of what is measured in the processes of a profiler."""
    contexts = {"plain": contextlib.nullcontext}
    contexts |= {f"{profiler} {name}": functools.partial(make[profiler], **flags) for name, flags in FLAGS.items()}
    if profiler == "ours":
        contexts["floor default"] = floor(torch)
        contexts["floor all"] = functools.partial(floor(torch), FLOOR | ARGUMENTS)
        contexts["ours with call records"] = lambda: with_call_records(make["ours"]())
        contexts |= {f"part: {name}": functools.partial(floor(torch), parts) for name, parts in PARTS.items()}
    return contexts


def added_to_steps(profiler, torch, make):
    """{program: {context: microseconds that are added to a step}}; "plain" has those of the step itself."""
    found = {}
    for program, (steps, rounds) in PROGRAMS.items():
        try:
            step = warmed_up(torch, program)
        except ImportError as error:
            print(f"cuda/{program.__name__}: {error}", file=sys.stderr)
            continue
        contexts = contexts_of(profiler, torch, make)
        for context in contexts.values():  # the first profile of each loads libraries
            with context():
                step()
        times = in_turns(rounds, lambda context, step=step, steps=steps: seconds_per_step(torch, step, steps, context), contexts)
        added = {
            name: statistics.median(value - plain for value, plain in zip(values, times["plain"], strict=True)) * 1e6
            for name, values in times.items()
        }
        found[program.__name__] = added | {"plain": statistics.median(times["plain"]) * 1e6}
    return found


def run_child(*arguments, **environment):
    """What a process of this program prints in its last line; None if it fails, which is told."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        print(f"cuda {' '.join(arguments)}: failed: {done.stderr[-300:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def measure_steps():
    of_processes = [run_child("--steps", profiler) for _ in range(PROCESSES) for profiler in ("ours", "torch")]
    of_processes = [each for each in of_processes if each is not None]
    for program in (each.__name__ for each in PROGRAMS):
        values = {}
        for found in of_processes:
            for name, value in found.get(program, {}).items():
                values.setdefault(name, []).append(value)
        if values:
            report_steps(program, values)


def report_steps(program, values):
    medians = {name: statistics.median(each) for name, each in values.items()}
    plain = medians["plain"]

    def range_of(name):
        return f"{min(values[name]):.0f} to {max(values[name]):.0f}"

    def compare(name, ours, peer_name, peer):
        if ours in values and peer in values:
            note = f"added to a step of {plain:.0f} us; ours {range_of(ours)}, {peer_name} {range_of(peer)}"
            report(f"{program}_{name}", medians[ours], peer_name, medians[peer], "us", note)

    for flags in FLAGS:
        compare(flags, f"ours {flags}", "torch.profiler", f"torch {flags}")
        compare(f"floor_{flags}", f"ours {flags}", "the floor", f"floor {flags}")
        compare(f"least_{flags}", f"floor {flags}", "torch.profiler", f"torch {flags}")
    compare("call_records", "ours default", "ours with call records", "ours with call records")
    for name in medians:
        if name.startswith("part: ") or name.endswith(("default", "all")):
            note = f"{name.removeprefix('part: ')}: added to a step, {range_of(name)} us"
            report(f"{program}_part", medians[name], "the step", plain, "us", note)


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
    # Torch keeps CUPTI's callbacks in this process, so that calls are records in each of them.
    kinds = functools.partial(floor(torch), OPS | WORK | RUNTIME_RECORDS | DRIVER_RECORDS)
    contexts = {"plain": contextlib.nullcontext, "floor": kinds, "ours": make["ours"], "torch": make["torch"]}
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
            found[name] = run_child("--million", name, KINETO_CONFIG=str(config))
            if found[name] is None:
                return
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
    make = profilers(torch)
    if "--million" in sys.argv:
        return grown_by_a_million(torch, make[sys.argv[-1]])
    if "--steps" in sys.argv:
        return print(json.dumps(added_to_steps(sys.argv[-1], torch, make)))
    measure_steps()
    step = warmed_up(torch, mlp)
    for name in make:  # the first profile of each loads libraries
        with make[name]():
            step()
    measure_graphs(torch, make)
    measure_whole_graphs(torch, make)
    measure_answers(torch, make, step)
    measure_memory()


if __name__ == "__main__":
    main()
