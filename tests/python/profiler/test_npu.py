"""Runs on_reference_npu.py once, in a process with the reference NPU, and reports each of its tests here."""

import re
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("on_reference_npu.py")
NAMES = re.findall(r"^def (test_\w+)", CASES.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def outcomes(run_cases):
    return run_cases(CASES, MINDTORCH_NPU="reference")


@pytest.mark.parametrize("name", NAMES)
def test_on_the_reference_npu(name, outcomes):
    assert name in outcomes, "was not run"
    assert outcomes[name] is None, outcomes[name]


# Requirement F10


def test_an_npu_that_is_not_there_is_not_available(run_program):
    text = "import mindtorch_v2 as torch; print(torch.npu.is_available())"
    assert run_program(text, MINDTORCH_NPU="").strip() == "False"
