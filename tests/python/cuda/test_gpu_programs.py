"""Programs of several libraries on a GPU, against torch.profiler in the same process."""

import pytest
from comparing import device_work, launching_ops, profile_twice
from gpu_programs import PROGRAMS

pytestmark = [pytest.mark.cuda, pytest.mark.torch]


@pytest.fixture(scope="module", params=PROGRAMS, ids=lambda program: program.__name__)
def both(request, bridged_torch, tmp_path_factory):
    """The events of a step of a program: (ours, torch's)."""
    pytest.importorskip(PROGRAMS[request.param])
    return profile_twice(bridged_torch, request.param(), tmp_path_factory.mktemp(request.param.__name__), profile_memory=True)


def peak_of_the_gpu(events):
    totals = [event["args"] for event in events if event["name"] == "[memory]"]
    return max((args["Total Allocated"] for args in totals if args["Device Type"] == 1), default=0)


def scopes_on_the_gpu(events):
    return sorted(event["name"] for event in events if event.get("cat") == "gpu_user_annotation")


def test_the_work_of_the_device_is_that_of_torch(both):
    ours, theirs = map(device_work, both)
    assert ours.total() > 0
    assert ours == theirs


def test_each_kernel_has_the_op_that_torch_gives_it(both):
    ours, theirs = map(launching_ops, both)
    assert ours == theirs


def test_the_scopes_on_the_gpu_are_those_of_torch(both):
    ours, theirs = map(scopes_on_the_gpu, both)
    assert ours == theirs


def test_the_peak_of_memory_is_that_of_torch(both):
    ours, theirs = map(peak_of_the_gpu, both)
    assert ours == theirs > 0
