"""The stub files of the compiled modules, _C.pyi and _runtime.pyi, say what the modules have."""

import ast
import re
import subprocess
import sys

import nanobind
import pytest

HOW = "a stub of a compiled module is out of date: run ./dev stubs"
FOLDERS = {"_C": "python/mindtorch_v2", "_runtime": "runtime/python/mindtorch_v2"}


@pytest.fixture(scope="module", params=FOLDERS)
def module(request):
    return request.param


@pytest.fixture(scope="module")
def stub(project_root, module):
    return (project_root / FOLDERS[module] / f"{module}.pyi").read_text()


@pytest.fixture(scope="module")
def generated(project_root, tmp_path_factory):
    """The folder of what the generator makes of the modules now."""
    folder = tmp_path_factory.mktemp("stubs")
    subprocess.run([sys.executable, project_root / "tools" / "compiled_stubs.py", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def fresh(generated, module):
    return (generated / f"{module}.pyi").read_text()


def names_of(text):
    """Every name, and every member of a class, of a stub."""
    names = set()
    for node in ast.parse(text).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [node])
        for target in targets:
            name = getattr(target, "id", getattr(target, "name", None))
            names |= {name} if name else set()
            for member in node.body if isinstance(node, ast.ClassDef) else ():
                names.add((name, getattr(member, "name", None) or getattr(getattr(member, "target", None), "id", None)))
    return names


def test_every_name_of_the_module_is_there(stub, fresh):
    assert names_of(stub) == names_of(fresh), HOW


def test_the_text_is_what_the_generator_makes(stub, fresh):
    version = re.match(r"# Made by tools/compiled_stubs.py with nanobind (\S+):", stub).group(1)
    if version != nanobind.__version__ or sys.version_info[:2] != (3, 11):
        pytest.skip(f"made with nanobind {version} and Python 3.11; other versions lay it out differently")
    assert stub == fresh, HOW


def test_the_main_names_have_types(project_root):
    stub = (project_root / FOLDERS["_C"] / "_C.pyi").read_text()
    functions = {node.name: node for node in ast.parse(stub).body if isinstance(node, ast.FunctionDef)}
    assert ast.unparse(functions["is_profiler_enabled"].returns) == "bool"
    assert [argument.arg for argument in functions["dispatch_op_enter"].args.args] == ["name", "device", "args", "kwargs"]
