"""What must hold for a PyTorch program on an NPU, run by test_npu_backend.py in a process that has the double of libmspti preloaded.

The NPU is a backend made for the tests (npu_backend.cpp), renamed from PrivateUse1 as torch_npu does it. It counts its launches.
"""

import json
from collections import Counter

import pytest
import torch
from mindtorch_v2.profiler import ProfilerActivity, profile, status
from torch_npu import backend


@pytest.fixture(params=[False, True], ids=["direct", "queued"])
def queued(request):
    """Whether launches go through a queue on a thread of its own."""
    backend.npu_use_queue(request.param, True)
    yield request.param
    backend.npu_synchronize()
    backend.npu_use_queue(False, True)


def train_step():
    x = torch.ones(16, 16, device="npu", requires_grad=True)
    loss = ((x * 2.0).relu() + x.mm(x)).sum()
    loss.backward()
    torch.npu.synchronize()


def profiled(**options):
    train_step()  # the first step initialises
    before = backend.npu_launches()
    with profile(**options) as prof:
        train_step()
    return prof, backend.npu_launches() - before


def kernels_of(prof):
    return [event for event in prof.events() if event["kind"] == "kernel"]


def test_the_npu_is_recorded_through_mspti():
    (source,) = [source for source in status().sources if source.activity == ProfilerActivity.NPU]
    assert (source.name, source.available, source.advice) == ("mspti", True, "")


def test_there_are_as_many_kernels_as_launches(queued):
    prof, launched = profiled()
    assert launched > 5
    assert len(kernels_of(prof)) == launched
    assert not prof.losses()


def test_kernels_lie_under_the_ops_that_launched_them(queued):
    prof, launched = profiled()
    of_ops = Counter((event.name, kernel.name) for event in prof.events() if event["kind"] == "op" for kernel in event.kernels)
    assert of_ops[("aten::relu", "aclnnrelu")] == 1
    assert of_ops[("aten::sum", "aclnnsum")] == 1
    assert sum(of_ops.values()) == launched
    assert all(op.split("::")[1].rstrip("_") in kernel for op, kernel in of_ops), of_ops


def test_the_backward_pass_has_its_kernels_too(queued):
    prof, _ = profiled()
    nodes = {event.name: event.device_time_total for event in prof.events() if "Backward" in event.name}
    assert nodes["MmBackward0"] > 0 and nodes["ReluBackward0"] > 0, nodes


def test_the_table_has_the_columns_of_the_npu(queued):
    prof, launched = profiled()
    table = prof.key_averages().table(sort_by="self_privateuse1_time_total")
    assert all(column in table for column in ("Self NPU", "NPU total", "NPU time avg", "Self NPU time total"))
    assert f"Launches: {launched}  Device records: {launched}  Lost: 0 events" in table
    assert prof.use_device == "npu"


def test_the_trace_has_flows_from_launches_to_kernels(queued, tmp_path):
    prof, launched = profiled()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    ends = Counter(event["ph"] for event in events if event.get("cat") == "ac2g")
    assert ends == {"s": launched, "f": launched}
    ids = Counter(event["id"] for event in events if event.get("cat") == "ac2g")
    assert set(ids.values()) == {2}
    # Launches lie on the thread of the ops, or on that of the queue.
    threads_of_ops = {event["tid"] for event in events if event.get("cat") == "cpu_op"}
    threads_of_launches = {event["tid"] for event in events if event.get("name") == "npuLaunchKernel"}
    assert threads_of_launches.isdisjoint(threads_of_ops) == queued


def test_forward_and_backward_are_linked(tmp_path):
    prof, _ = profiled()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    ends = Counter(
        event["ph"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if event.get("cat") == "fwdbwd"
    )
    assert ends["s"] == ends["f"] > 0


def test_memory_of_the_npu_comes_from_pytorchs_own_reports(tmp_path):
    with profile(profile_memory=True) as prof:
        x = torch.empty(256, 256, device="npu")
        y = torch.empty(16, device="npu")
        del x
    rows = {row.key: row for row in prof.key_averages()}
    assert rows["aten::empty"].self_device_memory_usage == 256 * 256 * 4 + 16 * 4
    assert rows["[memory]"].self_device_memory_usage == -256 * 256 * 4
    assert y.numel() == 16
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    memory = [event["args"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"] if event["name"] == "[memory]"]
    of_npu = [report for report in memory if report["Device Type"] == 20]  # PrivateUse1
    assert [report["Bytes"] for report in of_npu] == [256 * 256 * 4, 16 * 4, -256 * 256 * 4]
    allocated = [report["Total Allocated"] for report in of_npu]
    assert allocated[1] - allocated[0] == 16 * 4 and allocated[1] - allocated[2] == 256 * 256 * 4
    assert {report["Device Id"] for report in of_npu} == {0}


def ops_in(nodes):
    for node in nodes:
        yield node
        yield from ops_in(node.children)


def test_the_npu_is_shown_wherever_torch_shows_a_device():
    on_cpu, on_npu = torch.ones(4), torch.ones(4, 4, device="npu")
    with profile(record_shapes=True, profile_memory=True) as prof:
        on_npu.relu()
        on_cpu.sum()
    tree = prof.profiler.kineto_results.experimental_event_tree()
    devices = {node.name: str(node.extra_fields.inputs[0].device) for node in ops_in(tree) if node.name in ("aten::relu", "aten::sum")}
    assert devices == {"aten::relu": "npu:0", "aten::sum": "cpu"}
    (kernel,) = kernels_of(prof)
    assert (kernel.device_type.value, kernel.device_index, kernel.use_device) == (20, 0, "npu")  # PrivateUse1
    row = next(row for row in prof.key_averages() if row.key == "aten::relu")
    assert (row.use_device, row.device_time_total > 0) == ("npu", True)


def test_with_a_queue_that_does_not_tell_ops_kernels_are_counted_and_belong_to_none():
    backend.npu_use_queue(True, False)
    try:
        prof, launched = profiled()
    finally:
        backend.npu_use_queue(False, True)
    assert len(kernels_of(prof)) == launched
    assert not [kernel for event in prof.events() if event["kind"] == "op" for kernel in event.kernels]
    assert not prof.losses()


def test_the_npu_can_be_recorded_alone():
    prof, launched = profiled(activities=[ProfilerActivity.NPU])
    assert len(kernels_of(prof)) == launched
    assert not [event for event in prof.events() if event["kind"] == "op"]


def collective_of(name, kernel, peer):
    """A recorded collective on the device and its announcement."""
    with profile(record_shapes=True) as prof:
        backend.npu_collective(name, kernel, 1000, peer)
    (collective,) = [event for event in prof.events() if event["kind"] == "collective"]
    (announced,) = [event for event in prof.events() if event.name == "record_param_comms"]
    assert collective.name == kernel.decode()
    assert [kernel.name for kernel in announced.kernels] == [collective.name]
    return collective.attributes, announced.attributes


def test_collectives_have_group_bytes_and_peers():
    collective, announced = collective_of(b"allreduce", b"hcom_allReduce_", 0)
    assert (collective["bytes"], collective["dtype"], collective["Process Group Name"]) == (4000, "Float", "hccl_world_group")
    assert (announced["Collective name"], announced["In msg nelems"], announced["Group size"]) == ("allreduce", 1000, 8)
    assert announced["Process Group Ranks"] == "[0, 1, 2, 3, 4, 5, 6, 7]"


def test_sends_and_receives_have_their_peer():
    _, sent = collective_of(b"send", b"hcom_send_", 5)
    assert sent["Dst Rank"] == 5
    _, received = collective_of(b"recv", b"hcom_receive_", 3)
    assert received["Src Rank"] == 3
