"""mtprof doctor: one text that says what can be recorded here, and tries it."""

import re
import subprocess

import pytest


@pytest.fixture
def doctor(program, monkeypatch):
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
    text = doctor("--no-torch", MINDTORCH_LIBRARY_PATH="mspti=/nowhere/libmspti.so")
    assert re.match(r"MindTorch Profiler \d+\.\d+\.\d+, from .*mindtorch_v2\n  Python 3\.\d+.*\n  .+, \d+ cores\n", text)
    assert re.search(r"^  clock: \w+", text, re.MULTILINE)
    assert "NPU through mspti: not available: MSPTI was not found" in text
    assert "  MINDTORCH_LIBRARY_PATH=mspti=/nowhere/libmspti.so" in text
    assert section(text, "self-test") == "  clock: ok\n  ops and scopes of the CPU: ok\n  trace file: ok\n"
    assert text.endswith("3 checks, 0 failed\n")


def test_a_preloaded_mspti_is_described_and_tried(doctor, build_folder):
    library = build_folder / "doubles" / "mspti_262" / "libmspti.so"
    text = doctor("--no-torch", LD_PRELOAD=library, MINDTORCH_NPU="reference,mspti")
    assert f"  NPU through mspti: available\n    library: {library}\n    version: 26.2.0\n    preloaded: yes\n" in text
    assert "    devices: npu:0 NPU of the tests\n" in text
    assert re.search(r"^    kinds that can be enabled: MARKER, KERNEL, API, .*, RUNTIME_API$", text, re.MULTILINE)
    assert "refused" not in text and "to do" not in text
    assert "  kernels of the embedded runtime on NPU: ok\n" in text


def test_an_mspti_that_is_not_preloaded_says_which_kinds_are_refused_and_what_to_do(doctor, build_folder):
    library = build_folder / "doubles" / "mspti_260" / "libmspti.so"
    environment = {"MINDTORCH_LIBRARY_PATH": f"mspti={library},ascendcl={library}"}
    text = doctor("--no-torch", MINDTORCH_NPU="reference,mspti", **environment)
    assert "    preloaded: no\n" in text
    assert "    kinds that can be enabled: MARKER, KERNEL, API, EXTERNAL_CORRELATION, COMMUNICATION, " in text
    refused = re.search(r"^    kinds that are refused: (.*)$", text, re.MULTILINE)[1].split(", ")
    assert refused == [f"{kind}: the library was not preloaded (6)" for kind in ("HCCL", "MEMORY", "MEMSET", "MEMCPY")]
    assert "    to do: copies, memsets and allocations are recorded only if MSPTI is loaded before CANN" in text
    assert f"LD_PRELOAD={library}" in text
    assert "  kernels of the embedded runtime on NPU: ok\n    warning: source mspti: copies, memsets and allocations" in text


def test_an_old_mspti_that_is_not_preloaded_fails_the_check_and_says_why(doctor, build_folder):
    library = build_folder / "doubles" / "mspti_85" / "libmspti.so"
    environment = {"MINDTORCH_LIBRARY_PATH": f"mspti={library},ascendcl={library}"}
    text = doctor("--no-torch", status=1, MINDTORCH_NPU="reference,mspti", **environment)
    assert "    kinds that are refused: ACL_API: invalid parameter (1), " in text
    assert "  kernels of the embedded runtime on NPU: 10 kernels were launched, 0 were recorded\n" in text
    assert "    warning: source mspti: this MSPTI is older than 26.0 and records kernels only if it is loaded before CANN" in text
    assert f"start the program with LD_PRELOAD={library}\n" in text


def test_another_tool_that_uses_mspti_is_told(doctor, build_folder):
    library = build_folder / "doubles" / "mspti_262" / "libmspti.so"
    environment = {"LD_PRELOAD": library, "MSPTI_DOUBLE_OTHER_SUBSCRIBER": 1}
    text = doctor("--no-torch", status=1, MINDTORCH_NPU="reference,mspti", **environment)
    assert "    kinds: could not be tried: msptiSubscribe: another tool has subscribed (2)" in text


def test_cuda_is_described_the_same_way(doctor, build_folder):
    doubles = build_folder / "doubles"
    environment = {"MINDTORCH_LIBRARY_PATH": f"cupti={doubles}/libcupti.so.13,cuda={doubles}/libcuda_driver_double.so"}
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
