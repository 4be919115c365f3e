"""Our profiler on PyTorch against torch.profiler and against callbacks that do nothing, on the CPU, one thread, the same training step.

Everything takes turns, round by round; times are those of the thread's own CPU clock; what a profiler adds to a plain step is compared.
Each step is timed, and the slowest of the fastest fifth is what counts: whatever else the machine does only ever adds to a step.
Prints one JSON object per line, as benchmarks/harness.h does. Without PyTorch it says so and ends.
"""

import contextlib
import ctypes
import importlib.util
import itertools
import json
import os
import random
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

ROUNDS, STEPS = 50, 40
FLAGS = {
    "default": {},
    "shapes": {"record_shapes": True},
    "memory": {"profile_memory": True},
    "stack": {"with_stack": True},
    "all": {"record_shapes": True, "profile_memory": True, "with_stack": True},
}
MODULE_CALLS = 17  # of a training step: twelve layers, four groups of layers, and the model
ANSWER_ROUNDS, ANSWER_STEPS = 9, 60
RSS_STEPS = 300


def report(name, ours, peer, peer_value, unit, note, ratio=None):
    ratio = ours / peer_value if ratio is None and ours is not None else ratio
    line = {
        "name": f"torch_bridge/{name}",
        "ours": ours,
        "peer": peer,
        "peer_value": peer_value,
        "ratio": ratio,
        "unit": unit,
        "note": note,
    }
    print(json.dumps(line), flush=True)


def training_step(torch):
    layers = [torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.LayerNorm(64)) for _ in range(4)]
    model = torch.nn.Sequential(*layers)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    batch = torch.randn(8, 64)

    def step():
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    for _ in range(20):
        step()
    return step


def profilers(torch):
    """(torch's, ours): functions that make a profile of the CPU from flags."""
    from mindtorch_v2.profiler import profile

    cpu = [torch.profiler.ProfilerActivity.CPU]
    return (lambda **flags: torch.profiler.profile(activities=cpu, **flags)), (lambda **flags: profile(activities=["cpu"], **flags))


def empty_callbacks(torch):
    """(ops, Python calls): functions that make the context in which callbacks that do nothing are called."""
    from mindtorch_v2.torch_bridge import compiler

    source = Path(__file__).parent / "libtorch" / "empty_callback.cpp"
    out = BUILD / "empty_callback.so"
    compiler.compile_library([source], out)
    library = ctypes.CDLL(str(out))

    @contextlib.contextmanager
    def ops(inputs=False):
        library.start(ctypes.c_bool(inputs))
        yield
        library.stop()

    @contextlib.contextmanager
    def python_calls():
        ctypes.pythonapi.PyEval_SetProfile(library.python_call, None)
        yield
        ctypes.pythonapi.PyEval_SetProfile(None, None)

    return ops, monitored_calls(library) if hasattr(sys, "monitoring") else python_calls


class MethodDef(ctypes.Structure):
    """PyMethodDef of the C API."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


def monitored_calls(library):
    """The events that are monitored for python_calls, reported to a built-in function that does nothing."""
    METH_FASTCALL = 0x80
    definition = MethodDef(b"monitored_event", ctypes.cast(library.monitored_event, ctypes.c_void_p), METH_FASTCALL, None)
    library.set_none(ctypes.py_object(None))
    make_function = ctypes.pythonapi.PyCFunction_NewEx
    make_function.restype, make_function.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    callback = make_function(ctypes.byref(definition), None, None)
    callback_needs = definition  # for as long as it may be called
    monitoring, events = sys.monitoring, sys.monitoring.events
    chosen = [events.PY_START, events.PY_RESUME, events.PY_THROW, events.PY_RETURN, events.PY_YIELD, events.PY_UNWIND, events.CALL]
    registered = [*chosen, events.C_RETURN, events.C_RAISE]

    @contextlib.contextmanager
    def calls():
        monitoring.use_tool_id(monitoring.PROFILER_ID, callback_needs.name.decode())
        for event in registered:
            monitoring.register_callback(monitoring.PROFILER_ID, event, callback)
        monitoring.set_events(monitoring.PROFILER_ID, sum(chosen))
        yield
        monitoring.set_events(monitoring.PROFILER_ID, 0)
        for event in registered:  # the interpreter would keep the function longer than what it is made of
            monitoring.register_callback(monitoring.PROFILER_ID, event, None)
        monitoring.free_tool_id(monitoring.PROFILER_ID)

    return calls


def step_times(step, context):
    """Microseconds of each step but the first."""
    with context():
        marks = []
        for _ in range(STEPS + 1):
            step()
            marks.append(time.thread_time_ns())
    return [(after - before) / 1000 for before, after in itertools.pairwise(marks)]


def compare_steps(torch, step):
    torchs, ours = profilers(torch)
    empty, empty_calls = empty_callbacks(torch)
    contexts = {"plain": contextlib.nullcontext, "empty": empty, "empty shapes": lambda: empty(inputs=True), "empty calls": empty_calls}
    for name, flags in FLAGS.items():
        contexts[f"torch {name}"] = lambda flags=flags: torchs(**flags)
        contexts[f"ours {name}"] = lambda flags=flags: ours(**flags)
    contexts["ours python calls"] = lambda: ours(python_calls=True)
    contexts["ours modules"] = lambda: ours(with_modules=True)
    times = {name: [] for name in contexts}
    order = random.Random(0)
    for round_number in range(-1, ROUNDS):
        names = list(contexts)
        order.shuffle(names)  # so that no profiler always runs after the same other one
        for name in names:
            values = step_times(step, contexts[name])
            if round_number >= 0:
                times[name] += values
    fast = {name: statistics.quantiles(values, n=5)[0] for name, values in times.items()}
    plain = fast["plain"]
    added = {name: value - plain for name, value in fast.items()}
    note = f"added to a plain step of {plain:.0f} us, torch {torch.__version__}"
    report("floor_default", added["ours default"], "empty callback", added["empty"], "us/step", note)
    report("floor_shapes", added["ours shapes"], "empty callback with arguments", added["empty shapes"], "us/step", note)
    for name, floor in {"default": "empty", "shapes": "empty shapes"}.items():
        report(f"least_{name}", added[floor], "torch.profiler", added[f"torch {name}"], "us/step", "a callback that does nothing")
    for name in FLAGS:
        report(f"step_{name}", added[f"ours {name}"], "torch.profiler", added[f"torch {name}"], "us/step", note)
    tracer = added["torch stack"] - added["torch default"]
    calls = added["ours python calls"] - added["ours default"]
    report("python_calls", calls, "torch's with_stack", tracer, "us/step", "what every call of a Python or C function adds to ops alone")
    report(
        "least_python_calls", added["empty calls"], "torch's with_stack", tracer, "us/step", "a function that does nothing at every call"
    )
    modules = (added["ours modules"] - added["ours default"]) / MODULE_CALLS
    report("modules", modules, "torch's with_stack", tracer / MODULE_CALLS, "us/module call", f"{MODULE_CALLS} module calls per step")


def compare_trace_sizes(torch, step):
    """Bytes of a Chrome trace with stacks, for each event of ops."""
    sizes = []
    with tempfile.TemporaryDirectory() as folder:
        for make in profilers(torch):
            with make(with_stack=True) as profile:
                for _ in range(ANSWER_STEPS):
                    step()
            trace = Path(folder, "trace.json")
            profile.export_chrome_trace(str(trace))
            sizes.append(trace.stat().st_size / sum(row.count for row in profile.key_averages()))
        packed = Path(folder, "trace.pftrace")
        profile.export_trace(str(packed))
        packed_size = packed.stat().st_size / sum(row.count for row in profile.key_averages())
    report("trace_bytes_stack", sizes[1], "torch.profiler", sizes[0], "bytes/event", f"a trace with stacks; .pftrace: {packed_size:.1f}")


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare_answers(torch, step):
    """Stop and averages, and the trace, of the same number of steps."""
    times = {"key_averages": ([], []), "export": ([], [])}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        for _ in range(ANSWER_ROUNDS):
            for side, make in enumerate(profilers(torch)):
                profile = make()
                profile.start()
                for _ in range(ANSWER_STEPS):
                    step()

                def averages(profile=profile):
                    profile.stop()
                    profile.key_averages()

                times["key_averages"][side].append(timed(averages))
                trace = Path(folder, "trace.json")
                times["export"][side].append(timed(lambda profile=profile, trace=trace: profile.export_chrome_trace(str(trace))))
                trace.unlink()  # replacing a file takes longer than writing a new one
    for name, (torchs, ours) in times.items():
        report(name, statistics.median(ours), "torch.profiler", statistics.median(torchs), "s", f"{ANSWER_STEPS} steps")


def memory_line(name):
    """Bytes, from the line of that name in /proc/self/status."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(name))


def peak_growth(torch, side):
    """Bytes per million events, from before the profile to after its averages, in a process where nothing was freed before."""
    step = training_step(torch)
    make = profilers(torch)[side]
    with make():
        step()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak, because a process starts with the peak of its parent
    before = memory_line("VmRSS")
    with make() as profile:
        for _ in range(RSS_STEPS):
            step()
    events = sum(row.count for row in profile.key_averages())
    return (memory_line("VmHWM") - before) / events * 1e6


def compare_memory(torch):
    sizes = []
    for side in (0, 1):
        done = subprocess.run([sys.executable, __file__, "--peak", str(side)], check=True, capture_output=True, text=True)
        sizes.append(float(done.stdout.split()[-1]))
    report("rss", sizes[1] / 1e6, "torch.profiler", sizes[0] / 1e6, "MB/million events", f"peak growth, measured with {RSS_STEPS} steps")


def main():
    warnings.filterwarnings("ignore")
    if importlib.util.find_spec("torch") is None:
        report("floor_default", None, None, None, "us/step", "PyTorch is not installed (./dev test --torch installs it)")
        return
    import torch
    from mindtorch_v2 import torch_bridge
    from mindtorch_v2.torch_bridge import compiler

    torch.set_num_threads(1)
    compiler.build_if_needed()
    assert torch_bridge.activate_if_possible().startswith("active")
    if "--peak" in sys.argv:
        print(peak_growth(torch, int(sys.argv[-1])))
        return
    step = training_step(torch)
    compare_steps(torch, step)
    compare_answers(torch, step)
    compare_trace_sizes(torch, step)
    compare_memory(torch)


if __name__ == "__main__":
    main()
