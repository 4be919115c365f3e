"""What must hold with an NVIDIA GPU, run by test_cuda.py in a process that is told where the doubles of CUPTI and of the driver are.

Ops of the host are made by hand, and what they launch is told to the double, so that every expectation here is exact.
"""

import ctypes
import os
import threading
import warnings
from types import SimpleNamespace

import pytest
from mindtorch_v2.profiler import (
    ProfilerActivity,
    _ExperimentalConfig,
    dispatch_op_enter,
    dispatch_op_exit,
    profile,
    record_function,
    schedule,
    status,
)

CPU_AND_CUDA = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
MEMCPY, MEMSET = 1, 2


class Work(ctypes.Structure):
    """CuptiDoubleWork of tests/doubles/cupti/cupti_double.h."""

    _fields_ = (
        ("activity_kind", ctypes.c_uint32),
        ("device", ctypes.c_uint32),
        ("stream", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("duration_ns", ctypes.c_uint64),
        ("start_ns", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("copy_kind", ctypes.c_uint32),
        ("value", ctypes.c_uint32),
        ("grid", ctypes.c_int32 * 3),
        ("block", ctypes.c_int32 * 3),
    )


class Faults(ctypes.Structure):
    """CuptiDoubleFaults."""

    _fields_ = (
        ("lose_every", ctypes.c_uint32),
        ("count_lost", ctypes.c_bool),
        ("zero_times_every", ctypes.c_uint32),
        ("unknown_record_every", ctypes.c_uint32),
        ("shuffle_seed", ctypes.c_uint64),
        ("late_by_flushes", ctypes.c_uint32),
    )


class Measurement(ctypes.Structure):
    """CuptiDoubleMeasurement."""

    _fields_ = (
        ("device", ctypes.c_uint32),
        ("environment_kind", ctypes.c_uint32),
        ("values", ctypes.c_uint32 * 5),
        ("time_ns", ctypes.c_uint64),
    )


class Gpu:
    """The double, as a program sees a GPU."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ["CUPTI_DOUBLE"])
        self.library.cupti_double_end_capture.restype = ctypes.c_void_p
        self.library.cupti_double_instantiate_graph.restype = ctypes.c_void_p
        self.library.cupti_double_instantiate_graph.argtypes = [ctypes.c_void_p]
        self.library.cupti_double_launch_graph.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        self.library.cupti_double_violations.restype = ctypes.c_char_p
        self.library.cupti_double_reset()

    def launch(self, name="kernel", microseconds=5, **more):
        work = Work(name=name.encode(), duration_ns=microseconds * 1000, grid=(4, 2, 1), block=(128, 1, 1), **more)
        return self.library.cupti_double_issue(ctypes.byref(work))

    def op(self, name, *kernels, **more):
        """An op of the host that launches these kernels."""
        token = dispatch_op_enter(name, "cuda", (SimpleNamespace(shape=(2, 3)),), {})
        for kernel in kernels:
            kernel() if callable(kernel) else self.launch(kernel, **more)
        dispatch_op_exit(token)

    def capture(self, *names):
        self.library.cupti_double_begin_capture(7)
        for name in names:
            self.op(name, f"{name}_kernel")
        return self.library.cupti_double_instantiate_graph(self.library.cupti_double_end_capture(7))


@pytest.fixture
def gpu():
    gpu = Gpu()
    yield gpu
    assert gpu.library.cupti_double_violations() == b""
    gpu.library.cupti_double_reset()


def row(prof, key):
    (found,) = [row for row in prof.key_averages() if row.key == key]
    return found


def microseconds(value):
    """Times pass through the mapping of two clocks, whose rates differ by some parts in a million."""
    return pytest.approx(value, rel=1e-2, abs=0.01)


def test_a_gpu_is_there():
    (source,) = [source for source in status().sources if source.name == "cupti"]
    assert source.available, source.reason


def test_an_op_has_the_time_of_the_kernels_that_it_launched(gpu):
    with profile(activities=CPU_AND_CUDA) as prof:
        for _ in range(3):
            gpu.op("aten::mul", "mul_kernel", "mul_kernel")
    op, kernel = row(prof, "aten::mul"), row(prof, "mul_kernel")
    assert (op.count, kernel.count) == (3, 6)
    assert op.device_time_total == op.self_device_time_total == microseconds(30)
    assert kernel.self_device_time_total == kernel.device_time_total == microseconds(30)
    assert kernel.device_type == "CUDA" and op.device_type == "CPU"
    assert op.device_time == microseconds(10)


def test_the_time_of_a_kernel_counts_for_all_ops_around_it_and_belongs_to_the_innermost(gpu):
    with profile(activities=CPU_AND_CUDA) as prof:
        gpu.op("aten::linear", "first_kernel", lambda: gpu.op("aten::addmm", "addmm_kernel", microseconds=20))
    outer, inner = row(prof, "aten::linear"), row(prof, "aten::addmm")
    assert outer.device_time_total == microseconds(25) and outer.self_device_time_total == microseconds(5)
    assert inner.device_time_total == inner.self_device_time_total == microseconds(20)


def test_an_event_lists_its_kernels(gpu):
    with profile(activities=CPU_AND_CUDA) as prof:
        gpu.op("aten::mul", "first", "second", microseconds=7)
    (event,) = [event for event in prof.events() if event.name == "aten::mul"]
    assert [(kernel.name, kernel.device, kernel.duration) for kernel in event.kernels] == [
        ("first", 0, microseconds(7)),
        ("second", 0, microseconds(7)),
    ]


def test_the_table_has_the_columns_and_the_total_of_cuda(gpu):
    with profile(activities=CPU_AND_CUDA) as prof:
        gpu.op("aten::mul", "mul_kernel", microseconds=1500)
    table = prof.key_averages().table(sort_by="cuda_time_total")
    assert all(column in table for column in ("Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"))
    (total,) = [line for line in table.splitlines() if line.startswith("Self CUDA time total")]
    assert total.split(": ")[1].endswith("ms") and float(total.split(": ")[1][:-2]) == pytest.approx(1.5, rel=1e-2)


def test_copies_and_memsets_are_events_with_their_bytes(gpu):
    with profile(activities=CPU_AND_CUDA) as prof:
        gpu.op("aten::copy_", lambda: gpu.launch(activity_kind=MEMCPY, bytes=4096))
        gpu.op("aten::zero_", lambda: gpu.launch(activity_kind=MEMSET, bytes=1024))
    found = {event.name: event.attributes["bytes"] for event in prof.events() if event["kind"] in ("memcpy", "memset")}
    assert found == {"Memcpy HtoD (Pinned -> Device)": 4096, "Memset (Device)": 1024}


def test_the_trace_has_kernels_with_what_torch_says_of_them(gpu, trace_of):
    with profile(activities=CPU_AND_CUDA) as prof:
        gpu.op("aten::mul", "mul_kernel", stream=13)
    events = trace_of(prof)["traceEvents"]
    (kernel,) = [event for event in events if event.get("cat") == "kernel"]
    (op,) = [event for event in events if event["name"] == "aten::mul"]
    (launch,) = [event for event in events if event["name"] == "cudaLaunchKernel"]
    arguments = kernel["args"]
    assert (kernel["pid"], kernel["tid"]) == (0, 13)
    assert (arguments["device"], arguments["stream"], arguments["context"]) == (0, 13, 1)
    assert (arguments["grid"], arguments["block"]) == ([4, 2, 1], [128, 1, 1])
    assert arguments["registers per thread"] == 32 and "warps per SM" in arguments
    assert arguments["correlation"] == launch["args"]["correlation"] and launch["cat"] == "cuda_runtime"
    assert arguments["External id"] == launch["args"]["External id"] == op["args"]["External id"]
    assert op["ts"] <= launch["ts"] and launch["ts"] + launch["dur"] <= op["ts"] + op["dur"]
    assert kernel["ts"] >= launch["ts"] and kernel["dur"] == microseconds(5)


# What the events of each category have in a trace of PyTorch 2.11 on a GPU (CUDA 13, all options on).
TORCHS_ARGUMENTS = {
    "user_annotation": {"External id", "Record function id", "Ev Idx"},
    "cuda_runtime": {"External id", "cbid", "correlation"},
    "gpu_user_annotation": {"External id"},
    "gpu_memcpy": {"External id", "device", "context", "stream", "correlation", "bytes", "memory bandwidth (GB/s)"},
    "gpu_memset": {"External id", "device", "context", "stream", "correlation", "bytes", "memory bandwidth (GB/s)"},
    "kernel": {
        *("External id", "device", "context", "stream", "correlation", "grid", "block", "registers per thread", "shared memory"),
        *("blocks per SM", "warps per SM", "est. achieved occupancy %", "queued"),
    },
}


def test_events_of_each_category_have_torchs_arguments(gpu, trace_of):
    with profile(activities=CPU_AND_CUDA) as prof, record_function("scope"):
        gpu.op("aten::mul", "mul_kernel", lambda: gpu.launch(activity_kind=MEMCPY, bytes=4096), lambda: gpu.launch(activity_kind=MEMSET))
    found = {}
    for event in trace_of(prof)["traceEvents"]:
        if event["ph"] == "X" and event["cat"] in TORCHS_ARGUMENTS:
            found.setdefault(event["cat"], set()).update(event["args"])
    assert found == TORCHS_ARGUMENTS


def test_work_outside_of_ops_has_no_external_id_and_the_span_of_a_scope_has_that_of_the_scope(gpu, trace_of):
    with profile(activities=CPU_AND_CUDA) as prof, record_function("scope"):
        gpu.launch("alone")
        gpu.op("aten::mul", lambda: gpu.launch("of_the_op"))
    events = trace_of(prof)["traceEvents"]
    ids = {(event.get("cat"), event["name"]): event["args"].get("External id") for event in events if event["ph"] == "X"}
    assert ids["kernel", "alone"] is None and ids["kernel", "of_the_op"] == ids["cpu_op", "aten::mul"]
    assert ids["gpu_user_annotation", "scope"] == ids["user_annotation", "scope"]


def test_an_arrow_leads_from_each_launch_to_its_kernel(gpu, trace_of):
    with profile(activities=CPU_AND_CUDA) as prof:
        for _ in range(4):
            gpu.op("aten::mul", "mul_kernel")
    events = trace_of(prof)["traceEvents"]
    ends = {phase: {e["id"]: (e["tid"], e["ts"]) for e in events if e["ph"] == phase and e["cat"] == "ac2g"} for phase in "sf"}
    launches = {(e["tid"], e["ts"]) for e in events if e["name"] == "cudaLaunchKernel"}
    kernels = {(e["tid"], e["ts"]) for e in events if e.get("cat") == "kernel"}
    assert set(ends["s"]) == set(ends["f"]) and len(ends["s"]) == 4
    assert set(ends["s"].values()) == launches and set(ends["f"].values()) == kernels


def test_each_thread_has_its_own_kernels(gpu):
    with profile(activities=CPU_AND_CUDA) as prof:
        threads = [threading.Thread(target=gpu.op, args=(f"op{i}", f"kernel{i}"), kwargs={"stream": 7 + i}) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for i in range(4):
        (event,) = [event for event in prof.events() if event.name == f"op{i}"]
        assert [kernel.name for kernel in event.kernels] == [f"kernel{i}"]


def test_scopes_of_the_user_have_the_time_of_what_they_launch(gpu):
    with profile(activities=CPU_AND_CUDA) as prof, record_function("step"):
        gpu.op("aten::mul", "mul_kernel", "mul_kernel")
    (scope,) = [row for row in prof.key_averages() if row.key == "step" and row.device_type == "CPU"]
    assert scope.device_time_total == microseconds(10)


def test_kernels_of_a_replayed_graph_name_the_op_that_captured_them(gpu, trace_of):
    with profile(activities=CPU_AND_CUDA) as prof:
        graph = gpu.capture("aten::mm", "aten::relu")
        for _ in range(3):
            gpu.library.cupti_double_launch_graph(graph, 7)
    captured = [(event["name"], event["args"]["captured by"]) for event in trace_of(prof)["traceEvents"] if event.get("cat") == "kernel"]
    assert sorted(captured) == [("aten::mm_kernel", "aten::mm")] * 3 + [("aten::relu_kernel", "aten::relu")] * 3


def test_the_table_counts_launches_and_device_records(gpu):
    with profile(activities=CPU_AND_CUDA) as prof:
        for _ in range(4):
            gpu.op("aten::mul", "mul_kernel")
    last = prof.key_averages().table().strip().splitlines()[-1]
    assert "Launches: 4" in last and "Device records: 4" in last and "Lost: 0 events" in last


def test_lost_records_are_told(gpu):
    gpu.library.cupti_double_set_faults(ctypes.byref(Faults(lose_every=2, count_lost=True)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile(activities=CPU_AND_CUDA) as prof:
            for _ in range(10):
                gpu.op("aten::mul", "mul_kernel")
    assert row(prof, "mul_kernel").count == 5 and row(prof, "aten::mul").count == 10
    assert sum(loss.count for loss in prof.losses() if loss.reason == "device_dropped") == 5


def test_a_gpu_that_may_not_be_watched_leaves_the_host_recorded(gpu):
    for function in (b"cuptiActivityEnable", b"cuptiActivityEnable_v2"):
        gpu.library.cupti_double_fail(function, 35, 0, 0)
    with pytest.warns(UserWarning, match="NVreg_RestrictProfilingToAdminUsers"), profile(activities=CPU_AND_CUDA) as prof:
        gpu.op("aten::mul", "mul_kernel")
    assert [event.name for event in prof.events()] == ["aten::mul"]


def test_a_schedule_records_the_kernels_of_each_cycle(gpu):
    cycles = []

    def count_kernels(prof):
        cycles.append(row(prof, "mul_kernel").count)

    plan = schedule(wait=1, warmup=1, active=1, repeat=3)
    with profile(activities=CPU_AND_CUDA, schedule=plan, on_trace_ready=count_kernels) as prof:
        for step in range(9):
            gpu.op("aten::mul", *["mul_kernel"] * (step + 1))
            prof.step()
    assert cycles == [3, 6, 9]


def test_the_gpu_can_be_recorded_alone(gpu):
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        gpu.op("aten::mul", "mul_kernel")
    assert {event["kind"] for event in prof.events()} == {"runtime", "kernel"}


def test_environment_counters_reach_the_trace_the_table_of_counters_and_a_recording(gpu, trace_of, tmp_path):
    power = 3
    with profile(activities=CPU_AND_CUDA, experimental_config=_ExperimentalConfig(enable_environment_counters=True)) as prof:
        for milliwatts in (300_500, 412_250):
            gpu.library.cupti_double_measure(ctypes.byref(Measurement(environment_kind=power, values=(milliwatts, 700_000))))
    samples = [event for event in trace_of(prof)["traceEvents"] if event["ph"] == "C" and event["name"] == "power"]
    assert [(event["pid"], event["args"]) for event in samples] == [(0, {"W": 300.5}), (0, {"W": 412.25})]
    prof.export_trace(str(tmp_path / "all.counters.csv"))
    lines = (tmp_path / "all.counters.csv").read_text().splitlines()
    assert lines[0] == "name,unit,device,time_ns,value"
    assert [line.split(",")[4] for line in lines if line.startswith("power,W,CUDA:0,")] == ["300.5", "412.25"]
    prof.export_trace(str(tmp_path / "all.mtrec"))
    assert b"CNTR" in (tmp_path / "all.mtrec").read_bytes()


def test_cuda_events_are_marks_on_their_stream(gpu, trace_of):
    with profile(activities=CPU_AND_CUDA, experimental_config=_ExperimentalConfig(enable_cuda_events=True)) as prof:
        gpu.op("aten::mul", "mul_kernel", stream=13)
        gpu.library.cupti_double_record_event(13, 5)
    (mark,) = [event for event in trace_of(prof)["traceEvents"] if event["name"] == "Event Record"]
    assert (mark["cat"], mark["tid"], mark["dur"], mark["args"]["event id"]) == ("cuda_sync", 13, 0, 5)
    assert row(prof, "aten::mul").device_time_total == microseconds(5), "a mark takes no time"


def test_hardware_counters_are_sampled(gpu, trace_of):
    metric = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"
    config = _ExperimentalConfig(performance_metrics=[metric], performance_metrics_interval_ms=0.001)
    with profile(activities=CPU_AND_CUDA, experimental_config=config) as prof:
        gpu.op("aten::mul", "mul_kernel")
    samples = [event["args"] for event in trace_of(prof)["traceEvents"] if event["ph"] == "C"]
    assert len(samples) > 1 and all(set(sample) == {"%"} for sample in samples)


def test_hardware_counters_that_are_unknown_are_told(gpu):
    config = _ExperimentalConfig(performance_metrics=["no such metric"])
    with (
        pytest.warns(UserWarning, match="hardware counters are not recorded: GPU 0"),
        profile(activities=CPU_AND_CUDA, experimental_config=config) as prof,
    ):
        gpu.op("aten::mul", "mul_kernel")
    assert row(prof, "mul_kernel").count == 1
