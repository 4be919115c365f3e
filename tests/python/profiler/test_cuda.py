"""Runs on_cuda_double.py in processes with the doubles of CUPTI and of the CUDA driver, one for each interface of CUPTI.

Each of its tests is reported here.
"""

import re
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("on_cuda_double.py")
NAMES = re.findall(r"^def (test_\w+)", CASES.read_text(), re.MULTILINE)


# CUPTI of CUDA 13.0 has classic records, that of 13.4 user-defined ones.
@pytest.fixture(scope="module", params=[130001, 130401])
def outcomes(request, run_cases, build_folder):
    doubles = build_folder / "doubles"
    return run_cases(
        CASES,
        MINDTORCH_LIBRARY_PATH=f"cupti={doubles}/libcupti.so.13,cuda={doubles}/libcuda_driver_double.so",
        CUPTI_DOUBLE=doubles / "libcupti.so.13",
        CUPTI_DOUBLE_VERSION=request.param,
    )


@pytest.mark.parametrize("name", NAMES)
def test_on_the_doubles(name, outcomes):
    assert name in outcomes, "was not run"
    assert outcomes[name] is None, outcomes[name]
