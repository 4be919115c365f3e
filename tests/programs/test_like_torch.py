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
    "timm_resnet": "timm",
    "timm_vit": "timm",
    "lightning_fit": "lightning",
    "accelerate_loop": "accelerate",
}


def run(script, *arguments, folder):
    """What a script of this folder writes, from a process of its own."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), environment["PYTHONPATH"]])
    command = [sys.executable, HERE / script, *arguments, "answers.json"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "answers.json").read_text())


@pytest.fixture(scope="module", params=PROGRAMS)
def said(request, tmp_path_factory, bridged_torch):
    """What torch.profiler and ours say about a program."""
    library = PROGRAMS[request.param]
    pytest.importorskip(library, reason=f"{library} is not installed (./dev test --programs installs it)")
    return run("profile_twice.py", request.param, folder=tmp_path_factory.mktemp(request.param))


def test_names_shapes_and_counts_of_events_are_the_same(said):
    assert sum(said["torch"]["counts"].values()) > 50
    assert said["ours"]["counts"] == said["torch"]["counts"]


def test_every_product_that_torch_counts_has_the_same_flops(said):
    torchs = said["torch"]["products"]
    assert torchs and {name: said["ours"]["products"].get(name) for name in torchs} == torchs


def test_products_add_up_to_what_the_flop_counter_counts(said):
    """Ours also counts the products that torch leaves out: those of attention, and of the derivative of a convolution."""
    assert sum(said["ours"]["products"].values()) == said["flop_counter"] > 0


def test_the_peak_of_memory_is_the_same(said):
    assert said["ours"]["peak_memory"] == said["torch"]["peak_memory"] > 0


def test_the_same_events_are_asynchronous(said):
    assert said["ours"]["asynchronous"] == said["torch"]["asynchronous"]


def test_dynamo_counts_the_same_with_and_without_a_profile(tmp_path, bridged_torch):
    pytest.importorskip("timm", reason="timm is not installed (./dev test --programs installs it)")
    counters = {}
    for way in ("without", "with"):
        (tmp_path / way).mkdir()
        counters[way] = run("count_graphs.py", way, folder=tmp_path / way)
    assert counters["without"]["stats"]["unique_graphs"] > 0
    assert counters["with"] == counters["without"]
