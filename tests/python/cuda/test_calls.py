"""Calls from CUPTI's callbacks against its records of calls, for the same programs on a GPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cuda, pytest.mark.torch]

# Of gpu_programs.py and of call_pairs.py.
PROGRAMS = (
    "transformers_gpt2_in_bfloat16",
    "transformers_llama_with_checkpointing",
    "transformers_generate",
    "torchvision_resnet_with_a_scaler",
    "torch_geometric_gcn",
    "cupy_beside_torch",
    "triton_kernel",
    "compiled_for_inference",
    "fused_optimizer_and_clipping",
    "library_calls",
    "custom_autograd_function",
    "threads_with_streams",
    "graph_replays",
    "failing_calls",
)


@pytest.fixture(scope="module")
def found(bridged_torch):
    script = Path(__file__).with_name("call_pairs.py")
    done = subprocess.run([sys.executable, script, *PROGRAMS], capture_output=True, text=True, env=os.environ, timeout=400)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(params=PROGRAMS)
def told(request, found):
    """What (records, callbacks) told of a program."""
    result = found[request.param]
    if isinstance(result, str) and result.startswith("ModuleNotFoundError"):
        pytest.skip(result)
    assert isinstance(result, dict), result
    return result["records"], result["callbacks"]


def differences(ours, theirs):
    return {key: (ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)}


def test_callbacks_tell_what_records_tell(told):
    records, callbacks = told
    assert (records["calls"], callbacks["calls"]) == ("records", "callbacks")
    assert differences(callbacks["facts"], records["facts"]) == {}
    assert callbacks["order"] == records["order"]
    assert callbacks["losses"] == records["losses"] == []


def test_no_work_begins_before_its_call(told):
    assert told[1]["early"] == 0
