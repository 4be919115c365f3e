"""Shared by the Python tests: where the programs under test are, and which tests need PyTorch."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("MINDTORCH_BUILD_DIR", ROOT / "build" / "dev"))

# The package of the build, for the tests and for the Python programs that they start.
sys.path.insert(0, str(BUILD / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(BUILD / "python"), os.environ.get("PYTHONPATH")]))
# Where the bridge to PyTorch is built for the tests: not the user's place, and kept between runs. Libraries that a test names stay named.
os.environ["MINDTORCH_LIBRARY_PATH"] = ",".join(
    filter(None, [os.environ.get("MINDTORCH_LIBRARY_PATH"), f"torch_bridge={BUILD}/torch_bridge"])
)
# The native mtprof finds the interpreter of the tests.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
# A shell starts background jobs with these signals ignored, and programs that tests start would ignore them too.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)


# What tests write that record with the embedded runtime. A build may leave it out (MINDTORCH_BUILD_RUNTIME), and these tests with it.
HAS_RUNTIME = any((BUILD / "python" / "mindtorch_v2").glob("_runtime.*.so"))
NAMES_RUNTIME = re.compile(
    r"import mindtorch_v2 as |from mindtorch_v2 import .*\b(nn|npu|optim|random|serialization|_runtime)\b"
    r"|mindtorch_v2\.(nn|npu|ones|optim)\b"
)


def pytest_ignore_collect(collection_path):
    if HAS_RUNTIME or collection_path.suffix != ".py":
        return None
    return True if ROOT / "runtime" in collection_path.parents or NAMES_RUNTIME.search(collection_path.read_text()) else None


@pytest.fixture(scope="session")
def project_root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def program():
    """program("mtprof") is the path of a program of the build; a test fails if it has not been built."""
    folder = BUILD / "bin"

    def find(name: str) -> Path:
        path = folder / name
        assert path.exists(), f"{path} has not been built (./dev build)"
        return path

    return find


@pytest.fixture(scope="session")
def build_folder() -> Path:
    return BUILD


@pytest.fixture(scope="session")
def vendor_folder() -> Path:
    """Where downloaded headers of vendors are kept between runs."""
    folder = BUILD / "vendor"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def bridged_torch():
    """torch, with a bridge that is up to date; for tests that are marked `torch`."""
    import torch
    from mindtorch_v2 import torch_bridge
    from mindtorch_v2.torch_bridge import compiler

    compiler.build_if_needed()
    assert torch_bridge.activate_if_possible().startswith("active: PyTorch")
    return torch


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def pytest_collection_modifyitems(items):
    needs_gpu = [item for item in items if item.get_closest_marker("cuda")]
    if needs_gpu and (importlib.util.find_spec("torch") is None or not _has_gpu()):
        for item in needs_gpu:
            item.add_marker(pytest.mark.skip(reason="there is no GPU, or no PyTorch that can use it"))
    if importlib.util.find_spec("torch") is not None:
        return
    skip = pytest.mark.skip(reason="PyTorch is not installed (./dev test --torch installs it)")
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def run_cases(tmp_path_factory):
    """Runs the tests of a file in a process of its own; returns {name of a test: why it failed, or None}."""

    def run(cases, **environment):
        report = tmp_path_factory.mktemp("cases") / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", str(cases), f"--junitxml={report}", "-p", "no:cacheprovider"]
        environment = {**os.environ, **{key: str(value) for key, value in environment.items()}}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert report.exists(), done.stdout + done.stderr
        tests = ElementTree.parse(report).iter("testcase")
        return {test.get("name"): test[0].get("message") + (test[0].text or "") if len(test) else None for test in tests}

    return run
