"""Both kinds of CUPTI's records on a GPU, each in a process of its own: classic ones, and user-defined ones where CUPTI has them.

PyTorch's own CUPTI is used unless MINDTORCH_TEST_CUPTI names another libcupti.so.13, which all processes then load first.
"""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.cuda, pytest.mark.torch]
RECORDS = ("classic", "")

START = """
import collections, json, sys, torch
from mindtorch_v2 import profiler

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU()).cuda()
x = torch.randn(8, 64, device="cuda")
with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
    model(x)
torch.cuda.synchronize()

def events(prof):
    prof.export_chrome_trace(sys.argv[1])
    with open(sys.argv[1]) as file:
        return json.load(file)

def kernels(trace):
    return [event for event in trace["traceEvents"] if event.get("cat") == "kernel"]
"""

WORK = """
host = torch.randn(1 << 14).pin_memory()
with profiler.profile(activities=["cpu", "cuda"]) as prof:
    loss = model(host.to("cuda", non_blocking=True).view(-1, 64)).sum()
    loss.backward()
    torch.zeros(1 << 12, device="cuda").tolist()
trace = events(prof)
ops = {e["args"]["External id"]: e["name"] for e in trace["traceEvents"] if e.get("cat") == "cpu_op"}
work = collections.Counter()
for e in trace["traceEvents"]:
    args = e.get("args", {})
    if e.get("cat") == "kernel":
        launch = [args[key] for key in ("grid", "block", "registers per thread", "shared memory")]
        work[str((ops.get(args.get("External id")), e["name"], launch))] += 1
    elif e.get("cat") in ("gpu_memcpy", "gpu_memset"):
        work[str((ops.get(args.get("External id")), e["name"], args["bytes"]))] += 1
found = {"records": trace["cupti_records"], "version": trace["cupti_version"], "work": work}
print(json.dumps(found | {"losses": [str(loss) for loss in prof.losses()]}))
"""

WHOLE_GRAPHS = """
graph = torch.cuda.CUDAGraph()
config = profiler._ExperimentalConfig(cuda_graphs="whole")
with profiler.profile(activities=["cpu", "cuda"], experimental_config=config) as prof:
    with torch.no_grad(), torch.cuda.graph(graph):
        model(x)
    for _ in range(5):
        graph.replay()
    x.mul(2)
trace = events(prof)
names = collections.Counter("graph" if e["name"].startswith("CUDA graph ") else "kernel" for e in kernels(trace))
print(json.dumps({"version": trace["cupti_version"], "names": names, "losses": [str(loss) for loss in prof.losses()]}))
"""

NODES = """
graph = torch.cuda.CUDAGraph()
found = []
for window in range(2):
    with profiler.profile(activities=["cpu", "cuda"]) as prof:
        if window == 0:
            with torch.no_grad(), torch.cuda.graph(graph):
                model(x)
        for _ in range(5):
            graph.replay()
    nodes = [e["args"] for e in kernels(events(prof)) if "graph node id" in e["args"]]
    found.append([len(nodes), sum(args["captured by"].startswith("aten::") for args in nodes), [str(loss) for loss in prof.losses()]])
print(json.dumps(found))
"""

SESSIONS = """
counts = collections.Counter()
for _ in range(100):
    with profiler.profile(activities=["cpu", "cuda"]) as prof:
        x.mul_(2)
    counts[sum(1 for e in prof.events() if e.device_type.name == "CUDA" and "elementwise" in e.name)] += 1
print(json.dumps({"counts": counts}))
"""

TURNS = """
from torch.profiler import ProfilerActivity
found = []
for _ in range(2):
    with profiler.profile(activities=["cpu", "cuda"]) as prof:
        x.mul_(2)
    trace = events(prof)
    found.append(["ours", trace["cupti_records"], len(kernels(trace))])
    with torch.profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as theirs:
        x.mul_(2)
        torch.cuda.synchronize()
    found.append(["theirs", "classic", sum(1 for e in theirs.events() if e.device_type.name == "CUDA" and "elementwise" in e.name)])
print(json.dumps(found))
"""


@pytest.fixture
def run(bridged_torch, tmp_path):
    def run_program(program, records=""):
        environment = {**os.environ, "MINDTORCH_CUPTI_RECORDS": records}
        if library := os.environ.get("MINDTORCH_TEST_CUPTI"):
            environment["LD_PRELOAD"] = library
        done = subprocess.run(
            [sys.executable, "-c", START + program, tmp_path / "trace.json"], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run_program


def test_both_kinds_of_records_tell_the_same(run):
    classic, default = run(WORK, "classic"), run(WORK)
    assert classic["records"] == "classic"
    assert default["records"] == ("user-defined" if default["version"] >= 130300 else "classic")
    assert default["work"] == classic["work"]
    assert len(default["work"]) > 5
    assert (classic["losses"], default["losses"]) == ([], [])


@pytest.mark.parametrize("records", RECORDS)
def test_a_replay_is_one_event_where_graphs_are_recorded_whole(run, records):
    found = run(WHOLE_GRAPHS, records)
    if 130000 <= found["version"] < 130100:
        pytest.skip("CUPTI of CUDA 13.0 crashes in this mode, so the profiler does not use it")
    assert found["names"]["graph"] == 5
    assert found["names"]["kernel"] >= 1, "work outside of graphs is recorded as always"
    assert found["losses"] == []


@pytest.mark.parametrize("records", RECORDS)
def test_every_kernel_of_a_replay_has_the_op_that_captured_it(run, records):
    for kernels, captured, losses in run(NODES, records):
        assert kernels >= 5
        assert kernels % 5 == 0
        assert captured == kernels
        assert losses == []


@pytest.mark.parametrize("records", RECORDS)
def test_a_hundred_profiles_each_have_their_kernel(run, records):
    assert run(SESSIONS, records)["counts"] == {"1": 100}


def test_torch_profiler_and_ours_take_turns(run):
    found = run(TURNS)
    assert [(who, count) for who, _, count in found] == [("ours", 1), ("theirs", 1), ("ours", 1), ("theirs", 1)]
    assert found[2][1] == "classic", "once torch.profiler has run, CUPTI has classic records only"
