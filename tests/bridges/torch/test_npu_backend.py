"""PyTorch programs on an NPU: a PrivateUse1 backend of the tests over the double of libmspti, preloaded as CANN's users preload MSPTI.

Runs on_npu_backend.py once, in a process of its own, and reports each of its tests here.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("on_npu_backend.py")
TEXT = CASES.read_text()
# Tests that use the fixture `queued` run twice.
NAMES = [
    f"{name}{variant}"
    for name, arguments in re.findall(r"^def (test_\w+)\((.*)\)", TEXT, re.MULTILINE)
    for variant in (("[direct]", "[queued]") if "queued" in arguments else ("",))
]


@pytest.fixture(scope="module")
def environment(torch, build_folder, tmp_path_factory):
    """The variables of a process in which `import torch_npu` gives PyTorch the NPU."""
    from mindtorch_v2.torch_bridge import compiler

    library = tmp_path_factory.mktemp("npu_backend") / "npu_backend.so"
    compiler.compile_library([CASES.with_name("npu_backend.cpp")], library)
    return {
        "NPU_BACKEND": library,
        "PYTHONPATH": os.pathsep.join([str(CASES.with_name("npu")), os.environ["PYTHONPATH"]]),
        "LD_PRELOAD": build_folder / "doubles" / "mspti_262" / "libmspti.so",
        "MINDTORCH_NPU": "reference,mspti",
    }


@pytest.fixture(scope="module")
def outcomes(environment, run_cases):
    return run_cases(CASES, **environment)


@pytest.fixture
def mtprof(program, environment):
    """Runs mtprof with these arguments; returns what it printed."""

    def run(*arguments):
        command = [str(argument) for argument in (program("mtprof"), *arguments)]
        variables = {**os.environ, **{name: str(value) for name, value in environment.items()}}
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("name", NAMES)
def test_on_the_npu_backend(name, outcomes):
    assert name in outcomes, "was not run"
    assert outcomes[name] is None, outcomes[name]


def test_an_unchanged_program_is_recorded_with_its_kernels(mtprof, tmp_path):
    printed = mtprof("run", "-o", tmp_path / "train.mtrec", CASES.parent / "npu" / "train.py")
    launches = int(re.search(r"^launches: (\d+)$", printed, re.MULTILINE)[1])
    assert launches > 10
    table = mtprof("table", tmp_path / "train.mtrec")
    assert "Self NPU" in table and "aclnnrelu" in table
    assert re.search(rf"Launches: {launches}  Device records: {launches}  Lost: 0 events", table)


def test_doctor_tries_pytorch_on_the_npu(mtprof):
    printed = mtprof("doctor")
    assert "  ops of PyTorch: ok\n" in printed
    assert "  kernels of PyTorch on NPU: ok\n" in printed
