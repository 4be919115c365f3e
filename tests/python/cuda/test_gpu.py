"""Profiles of PyTorch programs on a GPU, against torch.profiler in the same process."""

import collections
import json
import subprocess
import sys

import pytest
from comparing import device_work, events_of, launching_ops, profile_twice

pytestmark = [pytest.mark.cuda, pytest.mark.torch]


@pytest.fixture(scope="module")
def programs(bridged_torch):
    return {name: make(bridged_torch) for name, make in PROGRAMS.items()}


def _mlp(torch):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.GELU(), torch.nn.LayerNorm(256), torch.nn.Linear(256, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(64, 256), torch.randint(0, 10, (64,))

    def step():
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def _cnn_amp(torch):
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(10)
    )
    model = model.cuda()
    images = torch.randn(8, 3, 32, 32, device="cuda")

    def step():
        with torch.autocast("cuda", torch.float16):
            loss = model(images).float().square().mean()
        loss.backward()
        model.zero_grad()

    return step


def _transformer(torch):
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0).cuda().half()
    tokens = torch.randn(4, 64, 128, device="cuda", dtype=torch.float16)
    return lambda: layer(tokens).float().mean().backward()


def _two_streams(torch):
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]
    host = torch.randn(1 << 16).pin_memory()

    def step():
        for stream in streams:
            with torch.cuda.stream(stream):
                host.to("cuda", non_blocking=True).mul_(2).sum()

    return step


def _compiled(torch):
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(128, 128), torch.nn.GELU(), torch.nn.LayerNorm(128)).cuda())
    x = torch.randn(32, 128, device="cuda")
    return lambda: model(x).sum().backward()


PROGRAMS = {"mlp": _mlp, "cnn_amp": _cnn_amp, "transformer": _transformer, "two_streams": _two_streams, "compiled": _compiled}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_the_work_of_the_device_and_the_op_of_each_kernel_are_those_of_torch(name, programs, bridged_torch, tmp_path):
    ours, theirs = profile_twice(bridged_torch, programs[name], tmp_path)
    assert device_work(ours) == device_work(theirs)
    assert launching_ops(ours) == launching_ops(theirs)


def test_the_span_of_a_scope_belongs_to_the_scope_and_copies_have_their_bandwidth(bridged_torch, tmp_path):
    from mindtorch_v2 import profiler

    torch = bridged_torch
    with profiler.profile(activities=["cpu", "cuda"]) as profile, profiler.record_function("forward"):
        torch.ones(1 << 16).cuda().mul_(2)
    events = events_of(profile, tmp_path / "trace.json")
    scope = next(event for event in events if event.get("cat") == "user_annotation" and event["name"] == "forward")
    span = next(event for event in events if event.get("cat") == "gpu_user_annotation" and event["name"] == "forward")
    assert span["args"]["External id"] == scope["args"]["External id"]
    copy = next(event for event in events if event.get("cat") == "gpu_memcpy")
    assert copy["args"]["memory bandwidth (GB/s)"] == pytest.approx(copy["args"]["bytes"] / (copy["dur"] * 1000), rel=0.1)


def test_torch_profiler_may_start_inside_a_profile_of_memory(bridged_torch):
    from mindtorch_v2 import profiler

    torch = bridged_torch
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with profiler.profile(activities=["cpu", "cuda"], profile_memory=True) as ours:
        before = torch.empty(1 << 20, device="cuda")
        with torch.profiler.profile(activities=activities, profile_memory=True) as theirs:
            inside = torch.empty(1 << 18, device="cuda")
        after = torch.zeros(1 << 20, device="cuda")
    del before, inside, after
    assert next(row for row in theirs.key_averages() if row.key == "aten::empty").self_device_memory_usage == 1 << 20
    usage = {row.key: row.device_memory_usage for row in ours.key_averages()}
    assert usage["aten::zeros"] == 4 << 20, "what comes after torch.profiler is reported again"


def test_torch_can_be_imported_after_the_profiler(bridged_torch):
    program = "import mindtorch_v2, torch; print(float(torch.ones(2, device='cuda').sum()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "2.0"), done.stderr


GRAPH_PROGRAM = """
import json, sys, torch
from mindtorch_v2 import profiler

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU()).cuda()
x = torch.randn(8, 64, device="cuda")
with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
    model(x)
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with profiler.profile(activities=["cpu", "cuda"], record_shapes=True) as profile:
    with torch.no_grad(), torch.cuda.graph(graph):
        model(x)
    for _ in range(5):
        graph.replay()
profile.export_chrome_trace(sys.argv[1])
with profiler.profile(activities=["cpu", "cuda"]) as later:
    graph.replay()
later.export_chrome_trace(sys.argv[2])
for each in (profile, later):
    rows = {row.key: row for row in each.key_averages(group_by_input_shape=True)}
    kernels = sum(row.self_device_time_total for row in rows.values() if row.device_type == profiler.DeviceType.CUDA)
    ops = {key: row.self_device_time_total for key, row in rows.items() if key.startswith("aten::") and row.self_device_time_total > 0}
    print(json.dumps({"kernels": kernels, "ops": ops, "shapes": rows["aten::addmm"].input_shapes}))
"""


def test_every_kernel_of_a_replayed_graph_has_its_op_also_in_a_later_window(bridged_torch, tmp_path):
    # In a process of its own: torch.profiler, once used, keeps the callbacks that graph nodes are learnt through.
    paths = [tmp_path / "graph.json", tmp_path / "later.json"]
    done = subprocess.run([sys.executable, "-c", GRAPH_PROGRAM, *map(str, paths)], check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        table = json.loads(line)
        assert {"aten::addmm", "aten::gelu"} <= set(table["ops"]), "the time of a replay is counted under the ops that were captured"
        assert sum(table["ops"].values()) == pytest.approx(table["kernels"])
        assert [64, 64] in table["shapes"]
    for path, replays in zip(paths, (5, 1), strict=True):
        events = json.loads(path.read_text())["traceEvents"]
        kernels = [event["args"] for event in events if event.get("cat") == "kernel" and "graph node id" in event["args"]]
        assert len(kernels) % replays == 0
        assert len(kernels) > 0
        assert all(args["captured by"].startswith("aten::") for args in kernels)


def test_memory_of_the_gpu_is_reported(bridged_torch):
    from mindtorch_v2 import profiler

    torch = bridged_torch
    with profiler.profile(activities=["cpu", "cuda"], profile_memory=True) as profile:
        x = torch.empty(1 << 20, device="cuda")
    del x
    row = next(row for row in profile.key_averages() if row.key == "aten::empty")
    assert row.device_memory_usage == 4 << 20


def test_a_hundred_windows_in_a_row_each_have_their_kernels(bridged_torch):
    from mindtorch_v2 import profiler

    torch = bridged_torch
    x = torch.ones(1024, device="cuda")
    counts = collections.Counter()
    for _ in range(100):
        with profiler.profile(activities=["cpu", "cuda"]) as profile:
            x.mul_(2)
        counts[sum(1 for event in profile.events() if event.device_type.name == "CUDA" and "elementwise" in event.name)] += 1
    assert counts == {1: 100}
