"""The build command, and what is said when the bridge cannot be used."""

import os
import subprocess
import sys

import pytest


def run(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ASK = "from mindtorch_v2 import torch_bridge; print(torch_bridge.activate_if_possible())"


def test_without_torch_there_is_nothing_to_activate():
    assert run(ASK) == "inactive: torch is not imported"


def test_the_bridge_is_loaded_once_torch_is_imported(torch):
    assert run("import torch;" + ASK) == f"active: PyTorch {torch.__version__}"


def test_a_missing_bridge_is_explained_with_the_command(torch, tmp_path):
    answer = run("import torch;" + ASK, MINDTORCH_TORCH_BRIDGE_DIR=str(tmp_path))
    assert answer == "inactive: the bridge to PyTorch is not built; build it: python -m mindtorch_v2.torch_bridge build"


def test_the_bridge_of_another_torch_is_refused_with_the_command(torch, tmp_path):
    from mindtorch_v2.torch_bridge import layout

    other = tmp_path / "torch-2.12.1" / layout.digest() / layout.LIBRARY_NAME
    other.parent.mkdir(parents=True)
    other.write_bytes(layout.bridge_path(torch.__version__).read_bytes())
    answer = run("import torch;" + ASK, MINDTORCH_TORCH_BRIDGE_DIR=str(tmp_path))
    assert answer.startswith(f"inactive: the bridge is built for PyTorch 2.12.1, this is {torch.__version__}; rebuild it: python -m")


def test_a_bridge_in_the_folder_of_another_torch_is_refused_when_loaded(torch):
    code = "import torch; torch.__version__ = '2.12.1';" + ASK
    from mindtorch_v2.torch_bridge import layout

    path = layout.bridge_path("2.12.1")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(layout.bridge_path(torch.__version__).read_bytes())
    try:
        assert "was built for PyTorch 2.13" in run(code) or "was built for PyTorch" in run(code)
    finally:
        path.unlink()


def test_a_machine_without_a_compiler_is_told_what_to_install(torch, monkeypatch):
    from mindtorch_v2.torch_bridge import compiler

    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(compiler.BuildError, match="apt-get install g\\+\\+"):
        compiler.build()


def test_info_says_what_is_built_and_active(torch):
    done = subprocess.run([sys.executable, "-m", "mindtorch_v2.torch_bridge", "info"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"status    active: PyTorch {torch.__version__}" in done.stdout
