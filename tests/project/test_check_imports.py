"""tools/check_imports.py: our package keeps its rooms, and a planted violation of every kind is found."""

import importlib.util
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def script(project_root):
    return project_root / "tools" / "check_imports.py"


@pytest.fixture
def violations(script):
    """violations(tree) is what the script finds in it, one text each."""
    spec = importlib.util.spec_from_file_location("check_imports", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda tree: list(module.check_tree(tree))


def plant(tree, path, text=""):
    """Writes a file of the package, and the packages around it."""
    package = tree / "python" / "mindtorch_v2"
    file = package / path
    file.parent.mkdir(parents=True, exist_ok=True)
    for folder in [file.parent, *file.parent.parents]:
        if folder.is_relative_to(package):
            (folder / "__init__.py").touch()
    file.write_text(text)


def test_our_package_keeps_its_rooms(violations, project_root):
    assert violations(project_root) == []


def test_a_room_may_import_what_the_table_allows_and_nothing_else(violations, tmp_path):
    plant(tmp_path, "base/warnings.py")
    plant(tmp_path, "monitor/thread.py", "from mindtorch_v2.base.warnings import warn\nfrom mindtorch_v2 import _C\n")
    assert violations(tmp_path) == []
    plant(tmp_path, "base/enums.py", "import os\nfrom mindtorch_v2.monitor import thread\n")
    [found] = violations(tmp_path)
    assert found.startswith("python/mindtorch_v2/base/enums.py:2: base may import no other room, not monitor")


def test_a_module_of_a_folder_can_be_a_room_of_its_own(violations, tmp_path):
    plant(tmp_path, "cli/program.py")
    plant(tmp_path, "profiler/__main__.py", "from mindtorch_v2.cli.program import main\n")
    assert violations(tmp_path) == []


def test_an_import_in_a_function_needs_a_reason_and_one_for_type_checkers_none(violations, tmp_path):
    plant(tmp_path, "events/html.py")
    plant(tmp_path, "events/copies.py", "if TYPE_CHECKING:\n    from mindtorch_v2.cli import program\n")
    plant(tmp_path, "cli/program.py")
    assert violations(tmp_path) == []
    plant(tmp_path, "events/event_list.py", "def show():\n    from mindtorch_v2.events import html\n")
    [found] = violations(tmp_path)
    assert "events/event_list.py:2: import it at the top" in found and "(events/html.py)" in found


def test_a_reason_without_an_import_is_found(violations, tmp_path):
    plant(tmp_path, "fleet/_dask.py")
    plant(tmp_path, "fleet/_job.py")
    [found] = violations(tmp_path)
    assert "LATE names an import that is gone: fleet/_job.py fleet/_dask.py" in found


@pytest.mark.parametrize("first", ["from mindtorch_v2.events.html import table", "import mindtorch_v2.events.html"])
def test_modules_that_import_each_other_are_found(violations, tmp_path, first):
    plant(tmp_path, "events/html.py", "from mindtorch_v2.events import copies\n")
    plant(tmp_path, "events/copies.py", first + "\n")
    [found] = violations(tmp_path)
    assert found.endswith("these modules import each other: events/copies.py events/html.py")


def test_a_package_counts_as_imported_with_each_of_its_modules(violations, tmp_path):
    plant(tmp_path, "torch_bridge/ready.py")
    plant(tmp_path, "capture/modules.py")
    plant(tmp_path, "torch_bridge/__init__.py", "import mindtorch_v2.capture.modules\n")
    assert violations(tmp_path) == []
    plant(tmp_path, "capture/modules.py", "import mindtorch_v2.torch_bridge.ready\n")
    assert any(found.endswith("import each other: capture/modules.py torch_bridge/__init__.py") for found in violations(tmp_path))


def test_cpp_may_name_low_rooms_only(violations, tmp_path):
    plant(tmp_path, "base/enums.py")
    source = tmp_path / "python" / "src" / "a.cpp"
    source.parent.mkdir()
    source.write_text('imported("mindtorch_v2.base.enums", "DeviceType");\n')
    assert violations(tmp_path) == []
    source.write_text('\nimported("mindtorch_v2.profiler.profiler", "profile");\n')
    [found] = violations(tmp_path)
    assert found.startswith("python/src/a.cpp:2: C++ may import modules of base capture events")


def test_the_exit_status_tells_whether_a_rule_is_broken(script, tmp_path):
    plant(tmp_path, "base/enums.py")
    assert subprocess.run([sys.executable, script, tmp_path], capture_output=True, check=False).returncode == 0
    plant(tmp_path, "base/enums.py", "import mindtorch_v2.cli.program\n")
    plant(tmp_path, "cli/program.py")
    assert subprocess.run([sys.executable, script, tmp_path], capture_output=True, check=False).returncode == 1
