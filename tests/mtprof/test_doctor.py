"""mtprof doctor: one text that says what can be recorded here, and tries it."""

import re
import subprocess
import sys

import pytest


@pytest.fixture
def doctor(program, monkeypatch):
    monkeypatch.setenv("MINDTORCH_PYTHON", sys.executable)

    def run(*options, status=0, **environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, str(value))
        done = subprocess.run([program("mtprof"), "doctor", *options], capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    return run


def section(text, title):
    """The lines below a title."""
    return re.search(rf"^{title}\n((?:  .*\n)+)", text, re.MULTILINE)[1]


def test_without_devices_the_cpu_is_checked_and_the_rest_is_explained(doctor):
    text = doctor("--no-torch", MINDTORCH_MSPTI="/nowhere/libmspti.so")
    assert re.search(r"^  Python 3\.\d+", text, re.MULTILINE)
    assert re.search(r"^  clock: \w+", text, re.MULTILINE)
    assert "NPU through mspti: not available: MSPTI was not found" in text
    assert "  MINDTORCH_MSPTI=/nowhere/libmspti.so" in text
    assert section(text, "self-test") == "  ops and scopes of the CPU: ok\n  trace file: ok\n"
    assert text.endswith("2 checks, 0 failed\n")


def test_a_preloaded_mspti_is_described_and_tried(doctor, build_folder):
    library = build_folder / "doubles" / "mspti_262" / "libmspti.so"
    text = doctor("--no-torch", LD_PRELOAD=library, MINDTORCH_NPU="reference", MINDTORCH_NPU_SOURCE="mspti")
    assert f"  NPU through mspti: available\n    library: {library}\n    version: 26.2.0\n    preloaded: yes\n" in text
    assert re.search(r"^    kinds: MARKER, KERNEL, API, .*, RUNTIME_API$", text, re.MULTILINE)
    assert "  kernels of the embedded runtime on NPU: ok\n" in text


def test_an_mspti_that_is_not_preloaded_says_which_kinds_are_refused_and_what_to_do(doctor, build_folder):
    library = build_folder / "doubles" / "mspti_260" / "libmspti.so"
    environment = {"MINDTORCH_MSPTI": library, "MINDTORCH_ASCENDCL": library}
    text = doctor("--no-torch", MINDTORCH_NPU="reference", MINDTORCH_NPU_SOURCE="mspti", **environment)
    assert "    preloaded: no\n" in text
    assert "MEMCPY (no: 6)" in text and "KERNEL," in text
    assert "    to do: copies, memsets and allocations are recorded only if MSPTI is loaded before CANN" in text
    assert f"LD_PRELOAD={library}" in text


def test_cuda_is_described_the_same_way(doctor, build_folder):
    doubles = build_folder / "doubles"
    environment = {"MINDTORCH_CUPTI": doubles / "libcupti.so.13", "MINDTORCH_CUDA_DRIVER": doubles / "libcuda_driver_double.so"}
    text = doctor("--no-torch", status=1, **environment)
    assert "  CUDA through cupti: available\n    library: " in text
    assert "RUNTIME, DRIVER, CONCURRENT_KERNEL" in text
    assert "  kernels on CUDA: not tried" in text and text.endswith("failed: kernels on CUDA\n")


@pytest.mark.torch
def test_the_bridge_to_pytorch_is_tried(doctor, bridged_torch):
    text = doctor()
    assert re.search(r"^  torch \d", text, re.MULTILINE)
    assert re.search(r"^  bridge to torch: active", text, re.MULTILINE)
    assert "  ops of PyTorch: ok\n" in text
