"""Captures on a GPU go on whatever a profile does meanwhile: start, stop, step, a trigger of a monitor; on any thread, in any mode."""

import json
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.cuda, pytest.mark.torch]

PROGRAM = """
import ctypes, json, random, sys, threading, time, torch
from mindtorch_v2 import profiler

rounds, options = int(sys.argv[1]), json.loads(sys.argv[2])
config = profiler._ExperimentalConfig(**options)
activities = ["cpu", "cuda"]
x = torch.ones(1024, device="cuda")
x.mul_(2)
torch.cuda.synchronize()

maps = open("/proc/self/maps").read()
runtime = ctypes.CDLL(next(line.split()[-1] for line in maps.splitlines() if "libcudart.so" in line))
MODES = ("global", "thread_local", "relaxed")

def torch_capture(mode, between):
    graph, y = torch.cuda.CUDAGraph(), torch.ones(1024, device="cuda")
    with torch.cuda.graph(graph, capture_error_mode=mode):
        for _ in range(4):
            y.mul_(2)
            between()
    graph.replay()

# As a library captures, without waiting for the device, so that several threads can do so at once.
def raw_capture(mode, between, y=None):
    y = torch.ones(1024, device="cuda") if y is None else y
    stream, graph = torch.cuda.current_stream(), ctypes.c_void_p()
    handle = ctypes.c_void_p(stream.cuda_stream)
    results = [runtime.cudaStreamBeginCapture(handle, MODES.index(mode))]
    for _ in range(4):
        y.mul_(2)
        between()
    results.append(runtime.cudaStreamEndCapture(handle, ctypes.byref(graph)))
    runtime.cudaGetLastError()
    if any(results):
        raise RuntimeError(f"results {results}")
    runtime.cudaGraphDestroy(graph)

def profiled(**flags):
    with profiler.profile(activities=activities, experimental_config=config, **flags) as prof:
        x.add_(1) if not torch.cuda.is_current_stream_capturing() else None
    return prof

def stepped():
    schedule = profiler.schedule(wait=1, warmup=1, active=1, repeat=2)
    with profiler.profile(activities=activities, experimental_config=config, schedule=schedule) as prof:
        for _ in range(8):
            prof.step()

captured = broken = 0
told = []
def attempt(capture, mode, between, *more):
    global captured, broken
    try:
        capture(mode, between, *more)
        captured += 1
    except Exception as error:
        broken += 1
        told.append(f"{mode} {capture.__name__} {between.__name__}: {error}"[:300])

actions = [profiled, stepped]
def elsewhere(action):
    def on_another_thread():
        thread = threading.Thread(target=action)
        thread.start()
        thread.join()
    return on_another_thread

for mode in MODES:
    for action in (*actions, *map(elsewhere, actions)):
        for _ in range(rounds):
            attempt(torch_capture, mode, action)
            with torch.cuda.stream(torch.cuda.Stream()):
                attempt(raw_capture, mode, action)
in_turn = captured, broken

# Threads capture on and on, while this one profiles at random moments.
ends = threading.Event()
def capture_on_and_on(mode):
    with torch.cuda.stream(torch.cuda.Stream()):
        y = torch.ones(1024, device="cuda")
        y.mul_(2)
        torch.cuda.current_stream().synchronize()
        ready.wait()
        while not ends.is_set():
            attempt(raw_capture, mode, lambda: None, y)
ready = threading.Barrier(4)
threads = [threading.Thread(target=capture_on_and_on, args=(mode,)) for mode in MODES]
for thread in threads:
    thread.start()
ready.wait()
while captured + broken < sum(in_turn) + 300:
    time.sleep(0.001)
unprofiled = captured, broken
random.seed(1)
for _ in range(20 * rounds):
    random.choice(actions)()
ends.set()
for thread in threads:
    thread.join()
print(json.dumps({"captured": captured, "broken": broken, "in_turn": in_turn, "unprofiled": unprofiled, "told": told[:10]}))
"""


@pytest.mark.parametrize(
    "options", [{}, {"enable_cuda_sync_events": True, "enable_cuda_events": True, "enable_environment_counters": True}]
)
@pytest.mark.parametrize("calls", ["callbacks", "records"])
def test_no_capture_is_broken(bridged_torch, options, calls, monkeypatch):
    monkeypatch.setenv("MINDTORCH_CUPTI_RECORDS", "calls" if calls == "records" else "")
    done = subprocess.run([sys.executable, "-c", PROGRAM, "3", json.dumps(options)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["broken"] == 0, found
    assert found["captured"] > 100
