"""What must hold with an NPU, run on the reference device by test_npu.py in a process where MINDTORCH_NPU says so."""

import mindtorch_v2 as torch
from mindtorch_v2.profiler import ProfilerActivity, profile, schedule, supported_activities


def ops_on_npu(prof):
    return [event for event in prof.events() if event["kind"] == "op" and event["device_type"] == "NPU"]


# Rule: ops.npu
def test_an_npu_that_is_there_is_available():
    assert torch.npu.is_available()
    assert ProfilerActivity.NPU in supported_activities()


# Rule: ops.npu
def test_an_add_on_the_npu_is_an_event_of_the_npu():
    with profile() as prof:
        torch.ones((2, 2), device="npu") + 1
    assert any("add" in event["name"] for event in ops_on_npu(prof))


# Rule: memory.ops
def test_each_npu_event_carries_its_memory():
    with profile(profile_memory=True) as prof:
        kept = torch.ones((256, 256), device="npu")
        allocated = torch.npu.memory_allocated()
        kept + 1
    events = ops_on_npu(prof)
    assert events
    for event in events:
        before, after, delta = (event[f"npu_memory_allocated_{key}"] for key in ("before", "after", "delta"))
        assert all(type(value) is int for value in (before, after, delta)) and after - before == delta
        assert "cpu_memory_allocated_before" not in event
    ones = next(event for event in events if event["name"].endswith("ones"))
    assert ones["npu_memory_allocated_delta"] >= 256 * 256 * 4
    assert ones["npu_memory_allocated_after"] == allocated


# Rule: memory.ops
def test_without_profile_memory_no_event_has_memory_keys():
    with profile() as prof:
        torch.ones((2, 2), device="npu") + 1
    assert not [event for event in prof.events() if any("memory" in key for key in event)]


# Rule: memory.schedule
def test_with_a_schedule_memory_exists_only_in_recording_phases():
    with profile(profile_memory=True, schedule=schedule(wait=1, warmup=1, active=1)) as prof:
        for _ in range(3):
            torch.ones((2, 2), device="npu") + 1
            prof.step()
    events = ops_on_npu(prof)
    assert events and {event["step"] for event in events} == {2}
    assert all("npu_memory_allocated_before" in event for event in events)


# Rule: memory.ops
def test_the_trace_carries_npu_memory_and_the_device_type(trace_of):
    with profile(profile_memory=True) as prof:
        torch.ones((2, 2), device="npu") + 1
    args = next(event["args"] for event in trace_of(prof)["traceEvents"] if event["name"].endswith("add"))
    assert args["device_type"] == "NPU"
    assert args["npu_memory_allocated_after"] - args["npu_memory_allocated_before"] == args["npu_memory_allocated_delta"]


# Rule: events.device
def test_an_op_lies_on_the_timeline_of_the_host_and_its_kernel_on_the_npus():
    with profile() as prof:
        torch.ones((2, 2), device="npu") + 1
        torch.npu.synchronize()
    add = next(event for event in prof.events() if event["kind"] == "op" and "add" in event["name"])
    assert add["device_type"] == "NPU" and add.device_type == "CPU"
    kernels = [event for event in prof.events() if event["kind"] == "kernel"]
    assert kernels and all(event.device_type == "NPU" == event["device_type"] for event in kernels)
    assert add.kernels and add.device_time_total > 0


# Rule: events.device
def test_copies_are_events_of_their_own_kind():
    with profile() as prof:
        torch.ones((64, 64)).to("npu").to("cpu")
    assert "memcpy" in {event["kind"] for event in prof.events()}


def test_the_table_has_the_columns_of_the_npu():
    with profile() as prof:
        torch.ones((64, 64), device="npu") + 1
        torch.npu.synchronize()
    table = prof.key_averages().table(sort_by="self_privateuse1_time_total")
    assert all(column in table for column in ("Self NPU", "NPU total", "NPU time avg", "Self NPU time total"))


# Rule: averages.device
def test_rows_of_one_op_on_two_devices_are_two_rows():
    with profile() as prof:
        torch.ones((2, 2), device="npu") + 1
        torch.ones((2, 2)) + 1
    rows = [row for row in prof.key_averages() if row.key.endswith("add") and row.device_type == "CPU"]
    assert sorted(str(row.op_device) for row in rows) == ["DeviceType.CPU", "DeviceType.NPU"]


# Rule: stacks_file.lines
def test_stacks_can_be_weighed_by_device_time(tmp_path):
    with profile(with_stack=True) as prof:
        torch.ones((64, 64), device="npu") + 1
        torch.npu.synchronize()
    written = []
    for device in ("privateuse1", "cuda", "xpu", "npu", "device"):
        prof.export_stacks(tmp_path / "stacks.txt", f"self_{device}_time_total")
        written.append((tmp_path / "stacks.txt").read_text())
    lines = written[0].splitlines()
    assert lines and all(int(line.rsplit(" ", 1)[1]) > 0 for line in lines)
    assert set(written) == {written[0]}


def test_the_npu_can_be_recorded_alone():
    with profile(activities=[ProfilerActivity.NPU]) as prof:
        torch.ones((64, 64), device="npu") + 1
        torch.npu.synchronize()
    kinds = {event["kind"] for event in prof.events()}
    assert "kernel" in kinds and not {"op", "scope"} & kinds
    assert prof.use_device == "npu"


# Rule: names.torch
def test_ops_of_forward_backward_and_optimizer_are_recorded_on_the_npu():
    layer = torch.nn.Linear(2, 1).to("npu")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    with profile() as prof:
        layer(torch.ones((4, 2), device="npu")).sum().backward()
        optimizer.step()
    recorded = " ".join(event["name"] for event in prof.events())
    assert "Backward" in recorded and "Optimizer.step#SGD.step" in recorded
    assert ops_on_npu(prof)


def test_zeroing_memory_is_an_event_of_its_own_kind():
    x = torch.ones((64, 64), device="npu")
    with profile() as prof:
        x.zero_()
        torch.npu.synchronize()
    memsets = [event for event in prof.events() if event["kind"] == "memset"]
    assert [event.name for event in memsets] == ["Memset (Device)"] and memsets[0].device_type == "NPU"
    assert memsets[0].attributes["bytes"] == 64 * 64 * 4 and memsets[0].event_metadata.bytes == 64 * 64 * 4
    zero = next(event for event in prof.events() if event["name"] == "aten::zero_")
    assert [kernel.name for kernel in zero.kernels] == ["Memset (Device)"]
    assert x.to("cpu").sum().item() == 0


def test_launches_and_kernels_know_their_arrow(trace_of):
    x = torch.ones((2, 2), device="npu", requires_grad=True)
    with profile() as prof:
        (x * x).sum().backward()
        torch.npu.synchronize()
    drawn = {"fwdbwd": set(), "ac2g": set()}
    for event in trace_of(prof)["traceEvents"]:
        if event["ph"] in ("s", "f"):
            drawn[event["cat"]].add((event["id"], event["ph"] == "s"))
    known = {number: {(event.flow_id, event.flow_start) for event in prof.events() if event.flow_type == number} for number in (1, 2)}
    assert known == {1: drawn["fwdbwd"], 2: drawn["ac2g"]} and len(known[1]) == 4 and known[2]
    for event in prof.events():
        if event.flow_type == 2:
            assert event.flow_id == event.linked_correlation_id and event.flow_start == (event.device_type == "CPU")
