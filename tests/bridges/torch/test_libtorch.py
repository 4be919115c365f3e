"""A LibTorch program under the profiler, as a project of a user's: everything installed, found by CMake, built and run."""

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow]
HERE = Path(__file__).parent
# Torch says so once, under its own profiler too, when memory is freed that was allocated before a profile with memory.
FREED_BEFORE = "Memory block of unknown size was allocated before the profiling started"


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def cmake(program):
    """The CMake of the build."""
    cache = (program("mtprof").parent.parent / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_COMMAND:INTERNAL=(.+)$", cache, re.MULTILINE).group(1)


@pytest.fixture(scope="module")
def prefix(torch, cmake, program, project_root, tmp_path_factory):
    """Where mindtorch and then the bridge, built over it, are installed."""
    if not torch.compiled_with_cxx11_abi():
        pytest.skip("this PyTorch has the old strings of the C++ library")
    prefix, build = tmp_path_factory.mktemp("prefix"), tmp_path_factory.mktemp("bridge")
    run(cmake, "--install", program("mtprof").parent.parent, "--prefix", prefix)
    run(cmake, "-G", "Ninja", "-S", project_root / "mindtorch" / "bridges" / "torch", "-B", build, search_path(torch, prefix))
    run(cmake, "--build", build)
    run(cmake, "--install", build, "--prefix", prefix)
    return prefix


def search_path(torch, *prefixes):
    return "-DCMAKE_PREFIX_PATH=" + ";".join(map(str, [*prefixes, torch.utils.cmake_prefix_path]))


def configure(torch, cmake, project_root, prefix, folder):
    example = project_root / "examples" / "libtorch_train.cpp"
    command = [cmake, "-G", "Ninja", "-S", HERE / "consumer", "-B", folder, f"-DPROGRAM={example}", search_path(torch, prefix)]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True)


def test_a_project_of_ones_own_trains_prints_a_table_and_writes_a_trace(torch, cmake, project_root, prefix, program, tmp_path):
    configured = configure(torch, cmake, project_root, prefix, tmp_path)
    assert configured.returncode == 0, configured.stderr
    run(cmake, "--build", tmp_path)
    done = run(tmp_path / "train", tmp_path / "trace.json")
    assert "aten::addmm" in done.stdout
    assert [line for line in done.stderr.splitlines() if FREED_BEFORE not in line] == []
    names = Counter(event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"])
    assert names["forward"] == names["ProfilerStep#2"] * 3 == 3
    assert names["aten::addmm"] == 6
    assert names["AddmmBackward0"] == 6
    run(program("mtprof"), "validate", tmp_path / "trace.json")


def test_a_bridge_for_another_libtorch_is_refused(torch, cmake, project_root, prefix, tmp_path):
    shutil.copytree(prefix, tmp_path / "prefix", symlinks=True)
    (component,) = (tmp_path / "prefix").glob("lib*/**/mindtorch-torch.cmake")
    component.write_text(re.sub(r'VERSION_EQUAL "[^"]+"', 'VERSION_EQUAL "2.5.9"', component.read_text()))
    configured = configure(torch, cmake, project_root, tmp_path / "prefix", tmp_path / "build")
    assert configured.returncode != 0
    assert "CMAKE_PREFIX_PATH leads to" in configured.stderr


def test_a_missing_bridge_is_explained(torch, cmake, project_root, prefix, tmp_path):
    shutil.copytree(prefix, tmp_path / "prefix", symlinks=True, ignore=shutil.ignore_patterns("mindtorch-torch*"))
    configured = configure(torch, cmake, project_root, tmp_path / "prefix", tmp_path / "build")
    assert configured.returncode != 0
    assert "MINDTORCH_BUILD_TORCH_BRIDGE" in configured.stderr
