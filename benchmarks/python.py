"""The Python package against PyTorch: what scopes and profiled ops cost, what answers take, what a thousand profiles leave behind.

Ours and torch's take turns in one process, round by round, in CPU time; a ratio is the median of the rounds' ratios. Prints
one JSON object per line, as benchmarks/harness.h does.
"""

import gc
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(os.environ["MINDTORCH_BUILD_DIR"]) / "python"))

ROUNDS = 11
SCOPES = 20_000
STEPS = 30
REPEATS = 2  # of a measurement in a round; the smallest counts, because disturbances only make a step slower
EVENTS = 250_000
PROFILES = 1_000
IDLE_HOOKS = 300_000_000


def report(name, ours, theirs, ratio, unit, note, peer="torch"):
    def rounded(value):
        return None if value is None else float(f"{value:.5g}")

    line = {"name": f"python/{name}", "ours": rounded(ours), "peer": peer, "peer_value": rounded(theirs), "ratio": rounded(ratio)}
    print(json.dumps(line | {"unit": unit, "note": note}), flush=True)


def timed(work, count=1):
    """Nanoseconds of CPU time for each of `count` calls."""
    start = time.process_time_ns()
    for _ in range(count):
        work()
    return (time.process_time_ns() - start) / count


def take_turns(ours, theirs, rounds=ROUNDS):
    """What `ours()` and `theirs()` give, round by round; the first round is for warming up."""
    pairs = [(ours(), theirs()) for _ in range(rounds + 1)][1:]
    return [list(side) for side in zip(*pairs, strict=True)]


def compare(name, ours, theirs, unit, note, scale=1.0):
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    report(name, statistics.median(ours) / scale, statistics.median(theirs) / scale, ratio, unit, note)


def scope_loop(record_function):
    def loop():
        for _ in range(SCOPES):
            with record_function("scope"):
                pass

    return loop


def empty_loop():
    for _ in range(SCOPES):
        pass


def cost_of_scopes(framework, is_recording):
    loop = scope_loop(framework.profiler.record_function)

    def measure():
        if not is_recording:
            return (timed(loop) - timed(empty_loop)) / SCOPES
        with cpu_profile(framework):
            return (timed(loop) - timed(empty_loop)) / SCOPES

    return measure


def cpu_profile(framework, **options):
    return framework.profiler.profile(activities=[framework.profiler.ProfilerActivity.CPU], **options)


def training_step(framework):
    """A step of training an MLP of 4 x (Linear 64, GELU, LayerNorm) with AdamW."""
    nn = framework.nn
    model = nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.LayerNorm(64)) for _ in range(4)])
    options = {"foreach": False} if framework.__name__ == "torch" else {}
    optimizer = framework.optim.AdamW(model.parameters(), **options)
    batch = framework.randn(8, 64)

    def step():
        optimizer.zero_grad()
        (model(batch) ** 2).mean().backward()
        optimizer.step()

    return step


def events_of_step(framework, step, options):
    step()  # the optimizer makes its state in the first one
    with cpu_profile(framework, **options) as prof:
        step()
    return sum(1 for event in prof.events() if not getattr(event, "is_python_function", False))


def added_cost_of_an_op(framework, step, options):
    """Nanoseconds that recording adds to a step, by the number of events that it has."""
    events = events_of_step(framework, step, options)

    def measure():
        plain, profiled = [], []
        for _ in range(REPEATS):
            plain.append(timed_after_one(step))
            prof = cpu_profile(framework, **options)
            prof.start()
            profiled.append(timed_after_one(step))
            prof.stop()
        return (min(profiled) - min(plain)) / events

    return measure, events


def timed_after_one(step):
    step()
    return timed(step, STEPS)


def measure_scopes(ours, torch):
    for name, is_recording, limit in (("record_function_idle", False, 0.07), ("record_function_active", True, 0.1)):
        sides = take_turns(cost_of_scopes(ours, is_recording), cost_of_scopes(torch, is_recording))
        compare(name, *sides, "ns", f"`with record_function(...)`; limit {limit}")


def measure_dispatch_hooks(ours):
    enter, leave = ours.profiler.dispatch_op_enter, ours.profiler.dispatch_op_exit

    def loop():
        for _ in range(SCOPES):
            leave(enter("op", "cpu", (), None))

    def measure():
        with cpu_profile(ours):
            return (timed(loop) - timed(empty_loop)) / SCOPES

    cost = statistics.median(measure() for _ in range(ROUNDS))
    report("dispatch_pair", cost, None, None, "ns", "dispatch_op_enter and dispatch_op_exit while recording; limit 500 ns", peer=None)


def measure_ops(ours, torch):
    cases = {
        "op_default": {},
        "op_shapes": {"record_shapes": True},
        "op_stack": {"with_stack": True},
        "op_memory": {"profile_memory": True},
        "op_all": {"record_shapes": True, "with_stack": True, "profile_memory": True},
    }
    our_step, their_step = training_step(ours), training_step(torch)
    for name, options in cases.items():
        gc.collect()
        mine, my_events = added_cost_of_an_op(ours, our_step, options)
        theirs, their_events = added_cost_of_an_op(torch, their_step, options)
        note = f"added to a training step, an event ({my_events} and {their_events} a step); limit 0.2"
        compare(name, *take_turns(mine, theirs), "ns", note)


def measure_key_averages(ours, torch):
    def asked(framework):
        step = training_step(framework)
        steps = EVENTS // events_of_step(framework, step, {}) + 1

        def measure():
            with cpu_profile(framework) as prof:
                for _ in range(steps):
                    step()
            return timed(prof.key_averages)

        return measure

    sides = take_turns(asked(ours), asked(torch), rounds=2)
    compare("key_averages", *sides, "ms", f"first answer about {EVENTS:,} events; limit 0.002", scale=1e6)


def cost_of_an_idle_hook():
    """Nanoseconds of a scope while nothing records, in the loop of bench_record, less those of the empty loop."""

    def seconds(case):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        program = Path(os.environ["MINDTORCH_BUILD_DIR"]) / "bin" / "bench_record"
        subprocess.run([program, "--counted", case, str(IDLE_HOOKS)], check=True, capture_output=True)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    return max(0.0, statistics.median(seconds("idle") - seconds("empty") for _ in range(5)) * 1e9 / IDLE_HOOKS)


def measure_idle_step(ours):
    """There is no build without hooks. Their cost is the number of events of a step times the cost of an idle hook."""
    step = training_step(ours)
    events = events_of_step(ours, step, {})
    step_ns = statistics.median(timed_after_one(step) for _ in range(ROUNDS))
    hook_ns = cost_of_an_idle_hook()
    without = step_ns - events * hook_ns
    note = f"{events} idle hooks of {hook_ns:.2f} ns in a step; limit 1.005"
    report("training_step_idle", step_ns / 1e3, without / 1e3, step_ns / without, "us", note, peer="without hooks (estimated)")


RSS_PROGRAM = """
import sys, warnings
warnings.filterwarnings("ignore")
framework = __import__(sys.argv[1])

def profile_once():
    with framework.profiler.profile(activities=[framework.profiler.ProfilerActivity.CPU]) as prof:
        x = framework.ones(4)
        for _ in range(10):
            x = x + x
    prof.key_averages()

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096

for _ in range(20):
    profile_once()
before = resident()
for _ in range(int(sys.argv[2])):
    profile_once()
print((resident() - before) / 2**20)
"""


def measure_memory():
    def growth(framework):
        environment = os.environ | {"PYTHONPATH": sys.path[0]}
        command = [sys.executable, "-c", RSS_PROGRAM, framework, str(PROFILES)]
        return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

    ours, theirs = growth("mindtorch_v2"), growth("torch")
    note = f"growth of resident memory over {PROFILES:,} profiles of 10 ops; limit 2 MiB"
    report("profiles_rss", ours, theirs, ours / theirs, "MiB", note)


def main():
    if importlib.util.find_spec("torch") is None:
        report("all", None, None, None, "", "PyTorch is not installed, and there is nothing to compare with", peer=None)
        return
    import mindtorch_v2
    import torch

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    gc.disable()  # a collection during a measurement would count the garbage of other code
    measure_scopes(mindtorch_v2, torch)
    measure_dispatch_hooks(mindtorch_v2)
    measure_ops(mindtorch_v2, torch)
    measure_key_averages(mindtorch_v2, torch)
    measure_idle_step(mindtorch_v2)
    measure_memory()


if __name__ == "__main__":
    main()
