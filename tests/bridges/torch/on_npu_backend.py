"""What must hold for a PyTorch program on an NPU, run by test_npu_backend.py in a process that has the double of libmspti preloaded.

The NPU is a backend made for the tests (npu_backend.cpp), renamed from PrivateUse1 as torch_npu does it. It counts its launches.
"""

import ctypes
import json
import os
from collections import Counter
from types import ModuleType

import pytest
import torch
from mindtorch_v2.profiler import ProfilerActivity, profile, status

backend = ctypes.CDLL(os.environ["NPU_BACKEND"])
backend.npu_launches.restype = ctypes.c_int64
backend.npu_all_reduce.argtypes = [ctypes.c_int64]
backend.npu_register()

npu = ModuleType("torch.npu")
npu.is_available = lambda: True
npu.device_count = lambda: 1
npu.current_device = lambda: 0
npu.is_initialized = lambda: True
npu._is_in_bad_fork = lambda: False
npu.synchronize = lambda *_: backend.npu_synchronize()
torch.utils.rename_privateuse1_backend("npu")
torch._register_device_module("npu", npu)
torch.utils.generate_methods_for_privateuse1_backend()


@pytest.fixture(params=[False, True], ids=["direct", "queued"])
def queued(request):
    """Whether launches go through a queue on a thread of its own."""
    backend.npu_use_queue(request.param)
    yield request.param
    backend.npu_synchronize()
    backend.npu_use_queue(False)


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


def test_memory_of_the_npu_comes_from_pytorchs_own_reports():
    with profile(profile_memory=True) as prof:
        x = torch.empty(256, 256, device="npu")
    row = next(row for row in prof.key_averages() if row.key == "aten::empty")
    assert row.self_device_memory_usage == 256 * 256 * 4
    assert x.numel() == 256 * 256


def test_the_npu_can_be_recorded_alone():
    prof, launched = profiled(activities=[ProfilerActivity.NPU])
    assert len(kernels_of(prof)) == launched
    assert not [event for event in prof.events() if event["kind"] == "op"]


def test_collectives_have_group_bytes_and_ranks():
    with profile(record_shapes=True) as prof:
        backend.npu_all_reduce(1000)
    (collective,) = [event for event in prof.events() if event["kind"] == "collective"]
    assert collective.name == "hcom_allReduce_"
    assert collective.attributes["bytes"] == 4000 and collective.attributes["Process Group Name"] == "hccl_world_group"
    (announced,) = [event for event in prof.events() if event.name == "record_param_comms"]
    assert announced.attributes["Group size"] == 8 and announced.attributes["In msg nelems"] == 1000
