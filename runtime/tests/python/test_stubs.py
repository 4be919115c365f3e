"""The stub file: what editors and type checkers are told is what is there."""

import ast
import subprocess
import sys
import types

import mindtorch_v2 as torch


def names_of(body):
    names = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def stub(project_root):
    return ast.parse((project_root / "python" / "mindtorch_v2" / "__init__.pyi").read_text())


def test_the_stub_is_up_to_date(project_root):
    result = subprocess.run([sys.executable, project_root / "tools" / "stubs.py", "--check"], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr


def test_the_stub_has_every_public_name(project_root):
    public = {n for n in dir(torch) if not n.startswith("_") and not isinstance(getattr(torch, n), types.ModuleType)}
    assert public - names_of(stub(project_root).body) == set()


def test_the_stub_has_every_public_attribute_of_tensors(project_root):
    (tensor,) = [n for n in stub(project_root).body if isinstance(n, ast.ClassDef) and n.name == "Tensor"]
    assert {n for n in dir(torch.Tensor) if not n.startswith("_")} - names_of(tensor.body) == set()


def test_the_stub_names_nothing_that_is_not_there(project_root):
    names = {n for n in names_of(stub(project_root).body) if not n.startswith("_")} - {"Any", "Iterator", "Sequence", "overload"}
    assert {n for n in names if not hasattr(torch, n)} == set()
