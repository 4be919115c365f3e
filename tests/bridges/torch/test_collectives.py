"""Collectives of torch.distributed, with their arguments and parameters, are recorded as torch records them."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("run_collectives.py")
ARGUMENTS = ("Input Dims", "Input type", "Input Strides")
# What differs from call to call, what only we write, and what only torch 2.7 does.
OWN = ("External id", "Record function id", "Ev Idx", "Sequence number", "Fwd thread id", "input_shapes", "finished")


@pytest.fixture(scope="module")
def traces(torch, read_trace, tmp_path_factory):
    """For each process, (torch's, ours)."""
    folder = tmp_path_factory.mktemp("collectives")
    processes = [subprocess.Popen([sys.executable, PROGRAM, str(rank), folder], stderr=subprocess.PIPE, text=True) for rank in range(2)]
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    return [tuple(read_trace(folder / f"{name}-{rank}.json") for name in ("torch", "ours")) for rank in range(2)]


def test_each_process_records_its_collectives_as_torch_does(traces):
    def key(event):
        is_collective = event.name.startswith(("gloo:", "c10d::"))
        return (event.name, *(event.argument(name) for name in ARGUMENTS)) if is_collective else None

    for theirs, ours in traces:
        counts = theirs.count(key)
        assert len(counts) > 10
        assert ours.count(key) == counts


def test_arrows_to_backward_nodes_come_from_the_thread_of_the_forward_op_beside_collectives_too(traces):
    for theirs, ours in traces:
        assert ours.flows == theirs.flows
        assert ours.flows["s"] > 2


def test_what_is_announced_before_a_collective_is_recorded_as_torch_records_it(torch, read_trace, tmp_path):
    """The parameters that NCCL's process group announces; gloo's does not."""
    from mindtorch_v2.profiler import profile
    from mindtorch_v2.torch_bridge import compiler

    library = tmp_path / "announce_collective.so"
    compiler.compile_library([Path(__file__).with_name("announce_collective.cpp")], library)
    announce = ctypes.CDLL(str(library)).announce_collective
    cpu = [torch.profiler.ProfilerActivity.CPU]
    found = []
    for name, make, activities in [("torch", torch.profiler.profile, cpu), ("ours", profile, ["cpu"])]:
        with make(activities=activities, record_shapes=True) as p:
            announce()
        p.export_chrome_trace(str(tmp_path / f"{name}.json"))
        (event,) = [event for event in read_trace(tmp_path / f"{name}.json").events if event.name == "record_param_comms"]
        found.append({key: value for key, value in event.args.items() if key not in OWN})
    theirs, ours = found
    assert {"Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size", "Process Group Name"} <= set(theirs)
    assert ours == theirs
