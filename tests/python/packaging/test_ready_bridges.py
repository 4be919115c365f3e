"""Bridges to PyTorch that come with the package: which one fits, and what happens when none does. PyTorch itself is made up here."""

import json
import os
import subprocess
import sys
import types

import pytest
from mindtorch_v2 import torch_bridge
from mindtorch_v2.torch_bridge import compiler, layout, library, ready

HEADERS = {"ATen/core/Tensor.h": "class Tensor;", "c10/util/Exception.h": "class Error;", "torch/version.h": "2.8.1"}
COMMIT = "a" * 40


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package without bridges, in which has(...) puts one, and a user who has built none."""
    monkeypatch.setattr(layout, "ready_folder", lambda: tmp_path / "ready")
    monkeypatch.setenv("MINDTORCH_LIBRARY_PATH", f"torch_bridge={tmp_path}/built")
    ready._bridges.cache_clear()

    def has(*releases, cxx11_abi=True, headers=HEADERS):
        write_headers(tmp_path / "compiled_with", headers)
        note = {
            "releases": dict.fromkeys(releases, COMMIT),
            "cxx11_abi": cxx11_abi,
            "headers": sorted(headers),
            "headers_digest": ready.headers_digest(tmp_path / "compiled_with", sorted(headers)),
        }
        folder = tmp_path / "ready" / f"torch-{releases[-1]}-{cxx11_abi}"
        folder.mkdir(parents=True)
        (folder / ready.NOTE_NAME).write_text(json.dumps(note))
        (folder / layout.LIBRARY_NAME).write_bytes(b"no library")
        ready._bridges.cache_clear()
        return folder / layout.LIBRARY_NAME

    yield types.SimpleNamespace(has=has)
    ready._bridges.cache_clear()


def write_headers(folder, headers):
    for name, text in headers.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def installed(tmp_path):
    """installed("2.8.0") is a PyTorch with headers, in a folder of its own."""

    def make(release, commit=COMMIT, cxx11_abi=True, headers=HEADERS):
        folder = tmp_path / f"torch of {release}"
        write_headers(folder / "include", headers)
        torch = types.ModuleType("torch")
        torch.__version__, torch.__file__ = release, str(folder / "__init__.py")
        torch.version = types.SimpleNamespace(git_version=commit)
        torch.compiled_with_cxx11_abi = lambda: cxx11_abi
        return torch

    return make


@pytest.fixture
def loaded(monkeypatch):
    """The paths that were loaded; those in `broken` cannot be."""
    paths = types.SimpleNamespace(tried=[], broken=set())

    def load(path, version):
        paths.tried.append(path)
        if path in paths.broken:
            raise OSError("undefined symbol")
        return types.SimpleNamespace(path=path, description=f"active: PyTorch {version}")

    monkeypatch.setattr(library, "Library", load)
    return paths


def build_for(torch):
    path = layout.bridge_path(torch)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"built")
    return path


@pytest.mark.parametrize("build", ["2.8.0", "2.8.0+cpu", "2.8.0+cu128"])
def test_builds_of_a_release_for_cpu_and_cuda_share_a_bridge(package, installed, build):
    bridge = package.has("2.8.0")
    assert ready.find(installed(build)) == bridge


def test_a_known_commit_needs_no_headers(package, installed):
    bridge = package.has("2.8.0")
    assert ready.find(installed("2.8.0", headers={})) == bridge
    assert ready.find(installed("2.8.0", commit="b" * 40, headers={})) is None


def test_a_patch_release_with_the_same_headers_shares_the_bridge_whatever_its_number(package, installed):
    bridge = package.has("2.8.0")
    assert ready.find(installed("2.8.3", commit="b" * 40, headers={**HEADERS, "torch/version.h": "2.8.3"})) == bridge


def test_a_patch_release_with_another_header_does_not(package, installed):
    package.has("2.8.0")
    assert ready.find(installed("2.8.3", commit="b" * 40, headers={**HEADERS, "ATen/core/Tensor.h": "struct Tensor;"})) is None


def test_another_minor_release_does_not(package, installed):
    package.has("2.8.0")
    assert ready.find(installed("2.80.0")) is None
    assert ready.find(installed("3.8.0")) is None
    assert ready.find(installed("a version of another form")) is None


def test_the_strings_of_the_cpp_library_decide_between_two_bridges_of_a_release(package, installed):
    new, old = package.has("2.6.0"), package.has("2.6.0", cxx11_abi=False)
    assert ready.find(installed("2.6.0")) == new
    assert ready.find(installed("2.6.0", cxx11_abi=False)) == old


def test_the_bridge_of_the_package_is_loaded_before_one_that_was_built(package, installed, loaded):
    torch = installed("2.8.0")
    bridge, built = package.has("2.8.0"), build_for(torch)
    assert library.load(torch).path == bridge and bridge != built


def test_a_bridge_of_the_package_that_cannot_be_loaded_leaves_the_built_one(package, installed, loaded):
    torch = installed("2.8.0")
    bridge, built = package.has("2.8.0"), build_for(torch)
    loaded.broken.add(bridge)
    assert library.load(torch).path == built
    assert loaded.tried == [bridge, built]


def test_without_a_bridge_of_the_package_the_built_one_is_loaded(package, installed, loaded):
    torch = installed("2.9.0")
    package.has("2.8.0")
    built = build_for(torch)
    assert library.load(torch).path == built


@pytest.fixture
def program(package, installed, loaded, monkeypatch):
    """program("2.9.0") is a program that has imported such a PyTorch; nothing is compiled."""
    monkeypatch.setattr(torch_bridge, "_active", None)
    monkeypatch.setattr(torch_bridge, "_not_built", None)

    def imports(release):
        torch = installed(release)
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setattr(compiler, "compile_library", lambda sources, target: build_for(torch))
        return torch

    return imports


def test_a_release_without_a_bridge_is_built_on_first_use_with_one_line(program, package, capsys):
    torch = program("2.9.0")
    package.has("2.8.0")
    assert torch_bridge.activate() == "active: PyTorch 2.9.0"
    assert layout.bridge_path(torch).exists()
    notice = capsys.readouterr().err
    assert notice.startswith("mindtorch_v2: Building the bridge to PyTorch 2.9.0 with ") and notice.count("\n") == 1


def test_nothing_is_built_where_the_package_has_a_bridge(program, package, capsys, monkeypatch):
    torch = program("2.8.0")
    package.has("2.8.0")
    monkeypatch.setenv("PATH", "")
    assert torch_bridge.activate() == "active: PyTorch 2.8.0"
    assert not layout.bridge_path(torch).exists() and capsys.readouterr().err == ""


def test_asking_for_the_state_builds_nothing(program, package):
    torch = program("2.9.0")
    assert torch_bridge.activate_if_possible().startswith("inactive: the bridge to PyTorch is not built")
    assert not layout.bridge_path(torch).exists()


def test_without_a_compiler_the_reason_says_what_to_install_and_which_releases_need_none(program, package, monkeypatch, capsys):
    program("2.9.0")
    package.has("2.10.0")
    package.has("2.8.0", "2.8.1")
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    assert torch_bridge.activate() == (
        "inactive: there is no C++ compiler to build the bridge with; install one: sudo apt-get install g++, "
        "or use a PyTorch for which this package has a bridge: 2.8, 2.10"
    )
    assert not layout.cache_folder().exists() and capsys.readouterr().err == "" and not torch_bridge.is_active()


def test_a_compiler_that_fails_is_tried_once_and_its_output_is_left_to_the_command(program, monkeypatch):
    program("2.9.0")
    attempts = []

    def fail(sources, target):
        attempts.append(target)
        raise compiler.BuildError("the compiler failed:\na long story")

    monkeypatch.setattr(compiler, "compile_library", fail)
    answers = {torch_bridge.activate() for _ in range(2)}
    assert answers == {"inactive: the compiler failed: try python -m mindtorch_v2.torch_bridge build"}
    assert len(attempts) == 1


def test_a_program_that_imports_torch_while_a_profile_records_is_told(tmp_path):
    made_up = "class version: git_version = 'none'\ncompiled_with_cxx11_abi = lambda: True\n__version__ = '2.8.0'\n"
    (tmp_path / "torch.py").write_text(made_up)
    code = "from mindtorch_v2.profiler import profile\nwith profile():\n    import torch\n"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])}
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "PyTorch was imported while a profile records: this profile has none of its ops" in done.stderr
