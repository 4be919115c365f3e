"""Runs on_reference_npu.py in processes with the reference NPU, and reports each of its tests here.

In one process the reference source records the NPU, in the other the source of Ascend NPUs, through a double of the vendor's library.
"""

import re
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("on_reference_npu.py")
NAMES = re.findall(r"^def (test_\w+)", CASES.read_text(), re.MULTILINE)


@pytest.fixture(scope="module", params=["reference", "mspti"])
def outcomes(request, run_cases, build_folder):
    preload = {"LD_PRELOAD": build_folder / "doubles" / "mspti_262" / "libmspti.so"} if request.param == "mspti" else {}
    return run_cases(CASES, MINDTORCH_NPU="reference,mspti" if preload else "reference", **preload)


@pytest.mark.parametrize("name", NAMES)
def test_on_the_reference_npu(name, outcomes):
    assert name in outcomes, "was not run"
    assert outcomes[name] is None, outcomes[name]


# Rule: ops.npu


def test_an_npu_that_is_not_there_is_not_available(run_program):
    text = "import mindtorch_v2 as torch; print(torch.npu.is_available())"
    assert run_program(text, MINDTORCH_NPU="").strip() == "False"


def test_an_unknown_source_of_the_npu_is_told(run_program):
    text = "from mindtorch_v2.profiler import status\ntry:\n    status()\nexcept ValueError as error:\n    print(error)"
    assert "'reference', 'mspti' or both" in run_program(text, MINDTORCH_NPU="other")


def test_without_the_preload_status_says_what_to_set(run_program, build_folder):
    library = build_folder / "doubles" / "mspti_261" / "libmspti.so"
    environment = {"MINDTORCH_NPU": "reference,mspti", "MINDTORCH_LIBRARY_PATH": f"mspti={library},ascendcl={library}"}
    text = "from mindtorch_v2.profiler import status; print(status())"
    printed = run_program(text, **environment)
    assert "NPU (mspti): available; copies, memsets and allocations are recorded only if" in printed
    assert f"LD_PRELOAD={library}" in printed


def test_a_program_may_end_while_the_npu_is_recorded(run_program, build_folder):
    library = build_folder / "doubles" / "mspti_262" / "libmspti.so"
    text = """
import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile
profile().start()
torch.ones((2, 2), device="npu") + 1
print("end")
"""
    printed = run_program(text, MINDTORCH_NPU="reference,mspti", LD_PRELOAD=str(library))
    assert printed.strip() == "end"
