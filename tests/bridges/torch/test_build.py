"""The build command, and what is said when the bridge cannot be used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(code, **environment):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def copy_bridge(torch, folder):
    from mindtorch_v2.torch_bridge import layout

    folder.mkdir(parents=True)
    (folder / layout.LIBRARY_NAME).write_bytes(layout.bridge_path(torch).read_bytes())


ASK = "from mindtorch_v2 import torch_bridge; print(torch_bridge.activate_if_possible())"


def test_without_torch_there_is_nothing_to_activate():
    assert run(ASK) == "inactive: torch is not imported"


def test_the_bridge_is_loaded_once_torch_is_imported(torch):
    assert run("import torch;" + ASK) == f"active: PyTorch {torch.__version__}"


def test_a_missing_bridge_is_explained_with_the_command(torch, tmp_path):
    answer = run("import torch;" + ASK, MINDTORCH_LIBRARY_PATH=f"torch_bridge={tmp_path}")
    assert answer == "inactive: the bridge to PyTorch is not built; build it: python -m mindtorch_v2.torch_bridge build"


def test_the_bridge_of_another_torch_is_refused_with_the_command(torch, tmp_path):
    from mindtorch_v2.torch_bridge import layout

    copy_bridge(torch, tmp_path / "torch-2.5.1" / layout.digest(torch))
    answer = run("import torch;" + ASK, MINDTORCH_LIBRARY_PATH=f"torch_bridge={tmp_path}")
    assert answer.startswith(f"inactive: the bridge is built for PyTorch 2.5.1, this is {torch.__version__}; rebuild it: python -m")


def test_a_bridge_in_the_folder_of_another_torch_is_refused_when_loaded(torch, tmp_path):
    from mindtorch_v2.torch_bridge import layout

    copy_bridge(torch, tmp_path / "torch-2.5.1" / layout.digest(torch))
    answer = run("import torch; torch.__version__ = '2.5.1';" + ASK, MINDTORCH_LIBRARY_PATH=f"torch_bridge={tmp_path}")
    release = torch.__version__.partition("+")[0]
    assert answer.startswith(f"inactive: the bridge was built for PyTorch {release}, this is 2.5.1; rebuild it: python -m")


def test_a_bridge_that_is_out_of_date_is_refused_with_the_command(torch, tmp_path):
    copy_bridge(torch, tmp_path / f"torch-{torch.__version__}" / "of other sources")
    answer = run("import torch;" + ASK, MINDTORCH_LIBRARY_PATH=f"torch_bridge={tmp_path}")
    assert answer == (
        "inactive: the bridge is out of date: mindtorch_v2 or PyTorch has changed since; "
        "rebuild it: python -m mindtorch_v2.torch_bridge build"
    )


def test_a_bridge_is_out_of_date_once_its_sources_change(torch, tmp_path, monkeypatch):
    from mindtorch_v2.torch_bridge import layout

    for kind in ("*.cpp", "*.h"):
        for file in layout.source_folder().glob(kind):
            (tmp_path / file.name).write_bytes(file.read_bytes())
    digest = layout.digest.__wrapped__
    before = digest(torch)
    monkeypatch.setattr(layout, "source_folder", lambda: tmp_path)
    assert digest(torch) == before
    for name in ("op_details.cpp", "bridge.h"):
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes() + b"\n")
        assert digest(torch) != before
        before = digest(torch)


def test_a_bridge_is_out_of_date_in_another_build_of_torch_or_of_ours(torch, monkeypatch):
    from mindtorch_v2.torch_bridge import layout

    abi = torch.compiled_with_cxx11_abi()
    others = [
        (torch.version, "git_version", "0" * 40),
        (torch, "compiled_with_cxx11_abi", lambda: not abi),
        (layout, "recorder_library", lambda: Path("/elsewhere/of_another_name.so")),
    ]
    digests = {layout.digest(torch)}
    for place, name, other in others:
        with monkeypatch.context() as change:
            change.setattr(place, name, other)
            digests.add(layout.digest.__wrapped__(torch))
    assert len(digests) == 1 + len(others)


def test_a_library_that_was_replaced_while_the_process_runs_makes_no_bridge_out_of_date(torch, monkeypatch):
    from mindtorch_v2.torch_bridge import layout

    digest = layout.digest.__wrapped__
    before, path = digest(torch), layout.recorder_library()
    monkeypatch.setattr(layout, "recorder_library", lambda: path.with_name(path.name.removesuffix(" (deleted)") + " (deleted)"))
    assert digest(torch) == before


def test_a_library_that_cannot_be_found_is_a_reason_and_no_error(torch, monkeypatch):
    from mindtorch_v2.torch_bridge import layout, library

    def missing():
        raise FileNotFoundError("libmindtorch.so is not loaded")

    monkeypatch.setattr(layout, "recorder_library", missing)
    monkeypatch.setattr(layout, "digest", layout.digest.__wrapped__)
    with pytest.raises(library.NotUsableError, match="libmindtorch.so is not loaded"):
        library.load(torch)


def test_an_up_to_date_bridge_is_not_built_again(torch, monkeypatch):
    from mindtorch_v2.torch_bridge import compiler, layout

    monkeypatch.setattr(compiler, "build", lambda say: "built")
    assert compiler.build_if_needed() == layout.bridge_path(torch)
    monkeypatch.setattr(layout, "digest", lambda _: "of other sources")
    assert compiler.build_if_needed() == "built"


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


def test_a_package_without_the_sources_of_the_bridge_is_told_to_be_installed_again(torch, monkeypatch, tmp_path):
    from mindtorch_v2.torch_bridge import compiler, layout

    monkeypatch.setattr(layout, "source_folder", lambda: tmp_path)
    with pytest.raises(compiler.BuildError, match=f"lacks the sources of the bridge \\({tmp_path}\\); install mindtorch_v2 again"):
        compiler.build()


def test_a_library_that_lacks_the_functions_of_the_bridge_is_a_reason_and_no_error(torch, monkeypatch):
    from mindtorch_v2.torch_bridge import layout, library

    monkeypatch.setattr(layout, "bridge_path", lambda _: layout.recorder_library())
    with pytest.raises(library.NotUsableError, match="cannot be loaded: .*undefined symbol: mindtorch_torch_.*; rebuild it: python -m"):
        library.load(torch)


@pytest.mark.parametrize("name", ["mindtorch_torch_takes_scopes", "mindtorch_torch_wants_modules", "mindtorch_torch_wants_owners"])
def test_a_library_that_lacks_one_newer_name_is_a_reason_and_records_nothing(torch, tmp_path, name):
    from mindtorch_v2.torch_bridge import layout

    path = layout.bridge_path(torch)
    older = tmp_path / path.relative_to(layout.cache_folder())
    older.parent.mkdir(parents=True)
    older.write_bytes(path.read_bytes().replace(name.encode(), name.upper().encode()))
    use = "from mindtorch_v2.profiler import profile\nwith profile() as p: torch.ones(1)\nprint(len(p.events()))"
    answer, count = run(f"import torch; {ASK}\n{use}", MINDTORCH_LIBRARY_PATH=f"torch_bridge={tmp_path}").splitlines()
    assert answer.startswith("inactive: the bridge cannot be loaded: ")
    assert answer.endswith(f"undefined symbol: {name}; rebuild it: {layout.BUILD_COMMAND}")
    assert count == "0"


def test_a_torch_with_other_internals_is_a_reason_and_no_error(torch):
    answer = run(f"import torch; del torch.autograd.Function; {ASK}").strip()
    assert answer.startswith("inactive: this version of mindtorch_v2 does not know PyTorch 2") and "'Function'" in answer


def test_a_torch_that_applies_functions_in_c_is_known(torch):
    assert run(f"import torch; torch.autograd.Function.apply = len; {ASK}").startswith("active: PyTorch 2")
