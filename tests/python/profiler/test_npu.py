"""Runs on_reference_npu.py once, in a process with the reference NPU, and reports each of its tests here."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("on_reference_npu.py")
NAMES = re.findall(r"^def (test_\w+)", CASES.read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """{name of a test: why it failed, or None}."""
    report = tmp_path_factory.mktemp("npu") / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", str(CASES), f"--junitxml={report}", "-p", "no:cacheprovider"]
    done = subprocess.run(
        command, env={**os.environ, "MINDTORCH_NPU": "reference"}, capture_output=True, text=True, timeout=300, check=False
    )
    assert report.exists(), done.stdout + done.stderr
    cases = ElementTree.parse(report).iter("testcase")
    return {case.get("name"): case[0].get("message") + (case[0].text or "") if len(case) else None for case in cases}


@pytest.mark.parametrize("name", NAMES)
def test_on_the_reference_npu(name, outcomes):
    assert name in outcomes, "was not run"
    assert outcomes[name] is None, outcomes[name]


# Requirement F10


def test_an_npu_that_is_not_there_is_not_available(run_program):
    text = "import mindtorch_v2 as torch; print(torch.npu.is_available())"
    assert run_program(text, MINDTORCH_NPU="").strip() == "False"
