"""Programs of several libraries on a GPU, against torch.profiler in the same process."""

import pytest
from comparing import device_work, launching_ops, profile_twice

pytestmark = [pytest.mark.cuda, pytest.mark.torch]

# Each program of gpu_programs.py, and the library that it needs.
PROGRAMS = {
    "transformers_gpt2_in_bfloat16": "transformers",
    "transformers_llama_with_checkpointing": "transformers",
    "transformers_generate": "transformers",
    "torchvision_resnet_with_a_scaler": "torchvision",
    "lightning_fit": "pytorch_lightning",
    "torch_geometric_gcn": "torch_geometric",
    "cupy_beside_torch": "cupy",
    "triton_kernel": "triton",
    "compiled_for_inference": "triton",
    "fused_optimizer_and_clipping": "torch",
    "library_calls": "torch",
    "custom_autograd_function": "torch",
    "data_loader_with_workers": "torch",
}


@pytest.fixture(scope="module", params=PROGRAMS)
def both(request, bridged_torch, tmp_path_factory):
    """The events of a step of a program: (ours, torch's)."""
    pytest.importorskip(PROGRAMS[request.param])
    import gpu_programs

    step = getattr(gpu_programs, request.param)()
    return profile_twice(bridged_torch, step, tmp_path_factory.mktemp(request.param), record_shapes=True, profile_memory=True)


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


def test_kernels_that_other_threads_launch_have_their_ops_too(bridged_torch, tmp_path):
    """Torch records no ops of threads that the program starts, so only the work of the device can be compared."""
    import gpu_programs

    ours, theirs = profile_twice(bridged_torch, gpu_programs.threads_with_streams(), tmp_path)
    assert device_work(ours) == device_work(theirs)
    assert {op for op, _ in launching_ops(ours)} == {"aten::fill_", "aten::mul", "aten::sum"}
