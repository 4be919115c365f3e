"""What is recorded on request, on a GPU: environment counters, CUDA events, NVTX ranges and sampled hardware counters."""

import itertools
import json
import subprocess
import sys
import textwrap
import warnings

import pytest

pytestmark = [pytest.mark.cuda, pytest.mark.torch]


def _work(torch, seconds):
    """Keeps the GPU busy for about so many seconds of its own time."""
    x = torch.randn(4096, 4096, device="cuda")
    done, start = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    while True:
        for _ in range(20):
            x = torch.nn.functional.normalize(x @ x)
        done.record()
        done.synchronize()
        if start.elapsed_time(done) > 1000 * seconds:
            return


def _profiled(work, tmp_path, **options):
    """The profile and the elements of its Chrome trace."""
    from mindtorch_v2.profiler import _ExperimentalConfig, profile

    with profile(activities=["cpu", "cuda"], experimental_config=_ExperimentalConfig(**options)) as prof:
        work()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    return prof, json.loads(path.read_text())["traceEvents"]


def _counters(events):
    """{(name, unit): [(time, value)]} of the trace, and the processes that they are drawn in."""
    tracks, pids = {}, set()
    for event in events:
        if event.get("ph") != "C":
            continue
        ((unit, value),) = event["args"].items()
        tracks.setdefault((event["name"], unit), []).append((event["ts"], value))
        pids.add(event["pid"])
    return tracks, pids


def test_power_clocks_and_temperature_are_counters(bridged_torch, tmp_path):
    torch = bridged_torch
    _work(torch, 0.1)
    prof, events = _profiled(lambda: _work(torch, 2), tmp_path, enable_environment_counters=True)
    tracks, pids = _counters(events)
    assert {("power", "W"), ("SM clock", "MHz"), ("memory clock", "MHz"), ("temperature", "C")} <= set(tracks), sorted(tracks)
    assert pids == {0}
    window = [event["ts"] for event in events if event.get("name") in ("Iteration Start: PyTorch Profiler", "Record Window End")]
    for samples in tracks.values():
        assert all(min(window) <= time <= max(window) for time, _ in samples)
        assert [time for time, _ in samples] == sorted(time for time, _ in samples)
    assert all(20 < value < 2000 for _, value in tracks["power", "W"]), tracks["power", "W"]
    assert all(100 < value < 5000 for _, value in tracks["SM clock", "MHz"])
    assert all(10 < value < 110 for _, value in tracks["temperature", "C"])
    print({name: (len(samples), samples[0][1], samples[-1][1]) for name, samples in tracks.items()})
    assert prof.losses() == []


def test_cuda_events_mark_moments_of_their_streams(bridged_torch, tmp_path):
    torch = bridged_torch
    x = torch.randn(1024, 1024, device="cuda")
    stream = torch.cuda.Stream()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(3)]

    def work():
        for mark in marks[:2]:
            x @ x
            mark.record()
        with torch.cuda.stream(stream):
            x @ x
            marks[2].record()
        torch.cuda.synchronize()

    work()
    prof, events = _profiled(work, tmp_path, enable_cuda_events=True)
    records = [event for event in events if event.get("name") == "Event Record"]
    assert len(records) == 3, sorted({event.get("name") for event in events if event.get("cat") == "cuda_sync"})
    kernels = [event for event in events if event.get("cat") == "kernel"]
    default = [record for record in records if record["args"]["stream"] == kernels[0]["args"]["stream"]]
    assert len(default) == 2 and len({record["args"]["event id"] for record in records}) == 3
    first, second = sorted(default, key=lambda record: record["ts"])
    kernel = next(each for each in kernels if each["args"]["stream"] == first["args"]["stream"])
    assert kernel["ts"] + kernel["dur"] <= first["ts"] + 5, "the event follows the kernel before it"
    elapsed_ms, told_ms = (second["ts"] - first["ts"]) / 1000, marks[0].elapsed_time(marks[1])
    assert abs(elapsed_ms - told_ms) < 0.05 + 0.2 * told_ms, (elapsed_ms, told_ms)
    calls = [event for event in events if event.get("name", "").startswith("cudaEventRecord")]
    assert {call["args"]["correlation"] for call in calls} >= {record["args"]["correlation"] for record in records}
    assert prof.losses() == []


def test_nvtx_ranges_are_scopes(tmp_path):
    """In a process of its own, because NVTX looks for a tool once."""
    program = textwrap.dedent(
        """
        import json, sys, threading, torch
        from mindtorch_v2.profiler import _ExperimentalConfig, profile, status
        from torch.cuda import nvtx

        x = torch.randn(512, 512, device="cuda")
        (x @ x).sum().item()
        with nvtx.range("before anything is recorded"):
            pass

        def on_a_thread():
            with nvtx.range("on a thread"):
                (x @ x).sum()

        nvtx.range_push("open when the profile starts")
        with profile(activities=["cpu", "cuda"], experimental_config=_ExperimentalConfig(enable_nvtx=True)) as prof:
            nvtx.range_push("outer")
            with nvtx.range("inner"):
                x @ x
            nvtx.mark("a moment")
            nvtx.range_pop()
            handle = nvtx.range_start("asynchronous")
            thread = threading.Thread(target=lambda: (on_a_thread(), nvtx.range_end(handle)))
            thread.start()
            thread.join()
            torch.cuda.synchronize()
            nvtx.range_pop()
        prof.export_chrome_trace(sys.argv[1])
        with profile(activities=["cpu", "cuda"]) as without:
            with nvtx.range("not asked for"):
                pass
        assert "not asked for" not in {event.name for event in without.events()}
        print(status())
        """
    )
    path = tmp_path / "trace.json"
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "nvtx: active: " in done.stdout
    events = json.loads(path.read_text())["traceEvents"]
    scopes = {event["name"]: event for event in events if event.get("cat") == "user_annotation"}
    assert {"outer", "inner", "on a thread", "asynchronous"} <= set(scopes), sorted(scopes)
    assert not {"before anything is recorded", "open when the profile starts"} & set(scopes)
    outer, inner = scopes["outer"], scopes["inner"]
    assert outer["tid"] == inner["tid"] != scopes["on a thread"]["tid"]
    assert outer["ts"] <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    matmul = next(event for event in events if event.get("name") == "aten::matmul" and event["ts"] >= inner["ts"])
    assert matmul["ts"] + matmul["dur"] <= inner["ts"] + inner["dur"]
    assert [event["name"] for event in events if event.get("ph") == "i" and event["name"] == "a moment"] == ["a moment"]
    spans = {event["name"] for event in events if event.get("cat") == "gpu_user_annotation"}
    assert {"inner", "on a thread"} <= spans, "the innermost range around a launch has its span on the GPU"


METRICS = ["sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"]


def test_hardware_counters_are_sampled_or_a_limit_says_why(bridged_torch, tmp_path):
    torch = bridged_torch
    _work(torch, 0.1)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        _, events = _profiled(lambda: _work(torch, 1), tmp_path, performance_metrics=METRICS, performance_metrics_interval_ms=1.0)
    assert any(event.get("cat") == "kernel" for event in events), "kernels are recorded whatever becomes of the counters"
    tracks, _ = _counters(events)
    told = [str(each.message) for each in heard if "hardware counters" in str(each.message)]
    print(told, {name: len(samples) for name, samples in tracks.items()})
    if told:
        assert tracks == {}
        return
    assert {name for name, _ in tracks} == set(METRICS)
    for samples in tracks.values():
        times = sorted(time for time, _ in samples)
        assert len(samples) > 900, "a sample for each millisecond"
        assert max(after - before for before, after in itertools.pairwise(times)) < 1500, "without gaps"
        assert all(0 <= value <= 101 for _, value in samples)
        assert max(value for _, value in samples) > 5, "the GPU was busy"


def test_an_unknown_metric_is_told(bridged_torch, tmp_path):
    torch = bridged_torch
    with pytest.warns(UserWarning, match="hardware counters"):
        _, events = _profiled(lambda: _work(torch, 0.05), tmp_path, performance_metrics=["no__such.metric"])
    assert any(event.get("cat") == "kernel" for event in events)
    assert _counters(events)[0] == {}
