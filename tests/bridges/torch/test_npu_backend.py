"""Runs on_npu_backend.py once, in a process with a PrivateUse1 backend over the double of libmspti, and reports each of its tests here."""

import re
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
def outcomes(torch, build_folder, run_cases, tmp_path_factory):
    from mindtorch_v2.torch_bridge import compiler

    library = tmp_path_factory.mktemp("npu_backend") / "npu_backend.so"
    compiler.compile_library([CASES.with_name("npu_backend.cpp")], library)
    mspti = build_folder / "doubles" / "mspti_262" / "libmspti.so"
    return run_cases(CASES, NPU_BACKEND=library, LD_PRELOAD=mspti, MINDTORCH_NPU="reference", MINDTORCH_NPU_SOURCE="mspti")


@pytest.mark.parametrize("name", NAMES)
def test_on_the_npu_backend(name, outcomes):
    assert name in outcomes, "was not run"
    assert outcomes[name] is None, outcomes[name]
