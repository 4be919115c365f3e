"""cmake --install: each component puts its files where its users look, and the profiler needs no other component than its own."""

import os
import re
import subprocess
import sys

import pytest

TORCH_PROGRAM = """
import sys
import mindtorch_v2
from mindtorch_v2.profiler import profile
import torch
with profile(record_shapes=True) as prof:
    torch.mm(torch.ones(4, 4), torch.ones(4, 4))
assert "aten::mm" in [row.key for row in prof.key_averages()]
assert not hasattr(mindtorch_v2, "ones") and not hasattr(mindtorch_v2, "nn")
with open("/proc/self/maps") as maps:
    assert "libmindtorch_runtime" not in maps.read()
"""
PROGRAM = """
import mindtorch_v2
from mindtorch_v2.profiler import profile, record_function
with profile() as prof, record_function("block"):
    pass
assert [row.key for row in prof.key_averages()] == ["block"]
try:
    mindtorch_v2.ones
except AttributeError as error:
    assert "built without the embedded runtime" in str(error), error
else:
    raise AssertionError("there is a runtime")
"""
RUNTIME_PROGRAM = """
import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile
with profile(with_modules=True) as prof:
    torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
assert "aten::linear" in [row.key for row in prof.key_averages()]
"""


@pytest.fixture(scope="module")
def install(tmp_path_factory, build_folder):
    """install(*components) is a prefix that holds these components; without any it holds all."""
    cache = (build_folder / "CMakeCache.txt").read_text()
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.+)$", cache, re.MULTILINE).group(1)

    def run(*components):
        prefix = tmp_path_factory.mktemp("prefix")
        for component in components or (None,):
            chosen = ["--component", component] if component else []
            subprocess.run([cmake, "--install", build_folder, "--prefix", prefix, *chosen], check=True, capture_output=True)
        return prefix

    return run


@pytest.fixture(scope="module")
def profiler_alone(install):
    return install("cpp", "python")


def site_packages(prefix):
    (found,) = prefix.glob("lib*/python3.*/site-packages")
    return found


def run_python(prefix, program):
    environment = {**os.environ, "PYTHONPATH": str(site_packages(prefix))}
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=prefix, check=True, timeout=600)


def test_nothing_lies_in_the_root_of_the_prefix(install):
    prefix = install()
    assert sorted(path.name for path in prefix.iterdir()) == ["bin", "include", "lib", "share"]


def test_the_component_for_cpp_has_the_library_the_headers_and_the_program(install):
    prefix = install("cpp")
    assert (prefix / "lib" / "libmindtorch.so").exists() and (prefix / "bin" / "mtprof").exists()
    assert (prefix / "include" / "mindtorch" / "profiler" / "profiler.h").exists()
    assert (prefix / "lib" / "cmake" / "mindtorch" / "mindtorch-config.cmake").exists()
    assert not list(prefix.rglob("*.py")) and not list(prefix.rglob("*runtime*"))
    subprocess.run([prefix / "bin" / "mtprof", "--version"], check=True, capture_output=True)


def test_the_component_for_python_is_a_package_in_site_packages(install):
    prefix = install("python")
    package = site_packages(prefix) / "mindtorch_v2"
    assert {path.relative_to(prefix).parts[0] for path in prefix.rglob("*") if path.is_file()} == {"lib"}
    assert list(package.glob("_C.*.so")) and (package / "__init__.py").exists() and (package / "py.typed").exists()
    assert (package / "torch_bridge" / "sources" / "mindtorch" / "bridges" / "torch" / "bridge.cpp").exists()
    assert not list(package.glob("_runtime*")) and not (package / "nn").exists()


def test_the_profiler_works_without_the_runtime(profiler_alone):
    run_python(profiler_alone, PROGRAM)


@pytest.mark.torch
def test_the_profiler_without_the_runtime_profiles_pytorch(profiler_alone):
    run_python(profiler_alone, TORCH_PROGRAM)


def test_the_runtime_joins_the_package(install):
    run_python(install("cpp", "python", "runtime"), RUNTIME_PROGRAM)


def test_the_library_of_the_profiler_needs_no_blas_and_nothing_of_the_runtime(build_folder):
    def needed_by(library):
        text = subprocess.run(["readelf", "-d", build_folder / "lib" / library], capture_output=True, text=True, check=True).stdout
        return re.findall(r"\(NEEDED\).*\[(.*)\]", text)

    assert not [name for name in needed_by("libmindtorch.so") if "blas" in name or "runtime" in name]
    assert any(name.startswith("libopenblas") for name in needed_by("libmindtorch_runtime.so"))
    symbols = subprocess.run(["nm", "-DC", build_folder / "lib" / "libmindtorch.so"], capture_output=True, text=True, check=True).stdout
    assert not re.search(r"mindtorch::(TensorImpl|Tensor|DeviceBackend|Library)\b|cblas", symbols)
