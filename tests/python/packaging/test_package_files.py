"""What the package consists of, and what importing it costs."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import mindtorch_v2


def imported_modules(statement):
    """Names of the modules that a fresh interpreter holds after the statement and not before."""
    program = f"import json, sys; before = set(sys.modules); {statement}; print(json.dumps(sorted(set(sys.modules) - before)))"
    return json.loads(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def test_importing_it_loads_no_framework_and_no_plotting_or_table_library():
    heavy = {"torch", "mindspore", "pandas", "matplotlib", "IPython", "scipy", "tensorboard"}
    assert not heavy & {name.partition(".")[0] for name in imported_modules("import mindtorch_v2")}


def test_importing_it_loads_few_modules_besides_numpy():
    """Import time is the number of modules: a second's tenth is a few hundred of them."""
    with_numpy = set(imported_modules("import numpy"))
    own = [name for name in imported_modules("import mindtorch_v2") if name not in with_numpy]
    assert len(own) < 120, own


def test_the_version_is_the_same_everywhere(project_root):
    project = re.search(r'^version = "(.+)"$', (project_root / "pyproject.toml").read_text(), re.MULTILINE).group(1)
    library = re.search(r"project\(mindtorch VERSION (\S+)", (project_root / "CMakeLists.txt").read_text()).group(1)
    assert mindtorch_v2.__version__ == project == library


def test_the_package_says_that_it_is_typed():
    assert (Path(mindtorch_v2.__file__).parent / "py.typed").exists()


def test_no_file_of_the_package_speaks_of_mindspore():
    for path in Path(mindtorch_v2.__file__).parent.rglob("*.py"):
        assert "mindspore" not in path.read_text(), path


def test_the_command_line_is_found_where_it_was_installed(project_root):
    source = (project_root / "python" / "mindtorch_v2" / "cli" / "program.py").read_text()
    assert "main" in [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    assert 'mtprof = "mindtorch_v2.cli.program:main"' in (project_root / "pyproject.toml").read_text()
