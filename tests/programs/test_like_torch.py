"""Programs of other libraries under torch.profiler and under ours: both answer the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.programs, pytest.mark.torch]

HERE = Path(__file__).parent
# The program, and the library that it needs.
PROGRAMS = {
    "transformers_trainer": "transformers",
    "transformers_generate": "transformers",
    "transformers_pipeline": "transformers",
    "transformers_whisper": "transformers",
    "transformers_vit": "transformers",
    "timm_resnet": "timm",
    "timm_vit": "timm",
    "timm_ema": "timm",
    "lightning_fit": "lightning",
    "lightning_validation": "lightning",
    "accelerate_loop": "accelerate",
    "accelerate_accumulation": "accelerate",
    "diffusers_unet": "diffusers",
    "geometric_graphs": "torch_geometric",
    "gpytorch_conjugate_gradients": "gpytorch",
    "compiled_step": "torch",
    "scripted_step": "torch",
    "workers_of_a_data_loader": "torch",
    "functional_transforms": "torch",
    "sparse_products": "torch",
    "quantized_layers": "torch",
    "nested_tensors": "torch",
    "recomputed_layers": "torch",
    "mixed_precision": "torch",
    "recurrent_and_complex": "torch",
}
# Programs of two processes that are connected by gloo.
PAIRS = "ddp_step", "fsdp_step", "collectives_without_waiting"
# Here a product calls another one that does the work: torch counts both, and ours counts the one that does the work.
PRODUCTS_IN_PRODUCTS = "functional_transforms", "sparse_products"
# torch's counter has no formula for it and for its derivative, and counts them only where they are made of other products.
ATTENTION_OF_CPU = "aten::_scaled_dot_product_flash_attention_for_cpu"
# The threads of gloo allocate memory in these programs. torch does not see it.
WITH_MEMORY_OF_OTHER_THREADS = "fsdp_step", "collectives_without_waiting"


def start(script, *arguments, folder, **variables):
    """A process of its own for a script of this folder."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", **variables}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), environment["PYTHONPATH"]])
    command = [sys.executable, HERE / script, *arguments, "answers.json"]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def answer(process, folder):
    """What the script writes."""
    _, errors = process.communicate(timeout=500)
    assert process.returncode == 0, errors
    return json.loads((folder / "answers.json").read_text())


def run(script, *arguments, folder):
    return answer(start(script, *arguments, folder=folder), folder)


def run_pair(program, folder):
    """What the first of two processes says, which run the same program."""
    group = {"GROUP": f"file://{folder / 'group'}"}
    folders = [folder / str(rank) for rank in range(2)]
    for each in folders:
        each.mkdir()
    processes = [start("profile_twice.py", program, folder=each, RANK=each.name, **group) for each in folders]
    first, _ = (answer(process, each) for process, each in zip(processes, folders, strict=True))
    return first


@pytest.fixture(scope="module", params=[*PROGRAMS, *PAIRS])
def said(request, tmp_path_factory, skip_without, bridged_torch):
    """What torch.profiler and ours say about a program, and its name."""
    program = request.param
    skip_without(PROGRAMS.get(program, "torch"))
    folder = tmp_path_factory.mktemp(program)
    answers = run_pair(program, folder) if program in PAIRS else run("profile_twice.py", program, folder=folder)
    return {"program": program, **answers}


def test_names_shapes_and_counts_of_events_are_the_same(said):
    ours, torchs = said["ours"]["counts"], said["torch"]["counts"]
    assert sum(torchs.values()) > 10
    if said["program"] in PAIRS:
        # torch hides memory below a collective that has not ended, even where another thread is at work for it.
        assert ours.pop("[memory] []") >= torchs.pop("[memory] []")
    assert ours == torchs


def test_every_op_that_torch_counts_has_the_same_flops(said):
    torchs = said["torch"]["flops"]
    ours = {name: said["ours"]["flops"].get(name, 0) for name in torchs}
    if said["program"] in PRODUCTS_IN_PRODUCTS:
        assert sum(ours.values()) < sum(torchs.values()) and all(ours[name] <= torchs[name] for name in torchs)
    else:
        assert ours == torchs


def test_products_add_up_to_what_the_flop_counter_counts(said):
    """Ours also counts the products that torch leaves out: those of attention, and of the derivative of a convolution."""
    if "flop_counter" not in said:
        pytest.skip("torch's counter fails on this program, or is wrong about it")
    products = said["ours"]["products"]
    attention = sum(count for name, count in said["ours"]["flops"].items() if name.startswith(ATTENTION_OF_CPU))
    assert said["flop_counter"] in (products, products - attention)


def test_the_peak_of_memory_is_the_same(said):
    if said["program"] not in WITH_MEMORY_OF_OTHER_THREADS:
        assert said["ours"]["peak_memory"] == said["torch"]["peak_memory"] > 0


def test_the_same_events_are_asynchronous(said):
    assert said["ours"]["asynchronous"] == said["torch"]["asynchronous"]
    assert bool(said["ours"]["asynchronous"]) == (said["program"] in PAIRS)


def test_dynamo_counts_the_same_with_and_without_a_profile(tmp_path, skip_without, bridged_torch):
    skip_without("timm")
    counters = {}
    for way in ("without", "with"):
        (tmp_path / way).mkdir()
        counters[way] = run("count_graphs.py", way, folder=tmp_path / way)
    assert counters["without"]["stats"]["unique_graphs"] > 0
    assert counters["with"] == counters["without"]
