"""tools/check_tests.py: each source of our tree has its test, and what breaks that rule is found."""

import importlib.util
import subprocess
import sys

import pytest


@pytest.fixture(scope="module")
def script(project_root):
    return project_root / "tools" / "check_tests.py"


@pytest.fixture(scope="module")
def check_tree(script):
    spec = importlib.util.spec_from_file_location("check_tests", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda *arguments: list(module.check_tree(*arguments))


def plant(tree, *paths):
    for path in paths:
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).touch()


def test_each_source_of_our_tree_has_its_test(check_tree, project_root):
    assert check_tree(project_root) == []


def test_a_source_with_a_test_of_its_name_passes(check_tree, tmp_path):
    plant(tmp_path, "mindtorch/part/a.cpp", "mindtorch/part/only_declared.h", "tests/part/a_test.cpp")
    assert check_tree(tmp_path, {}) == []


def test_a_source_without_a_test_is_found(check_tree, tmp_path):
    plant(tmp_path, "mindtorch/part/a.cpp", "tests/part/b_test.cpp")
    (found,) = check_tree(tmp_path, {})
    assert found.startswith("mindtorch/part/a.cpp has no test: write tests/part/a_test.cpp")


def test_the_table_names_the_tests_of_a_source(check_tree, tmp_path):
    plant(tmp_path, "mindtorch/part/a.cpp", "mindtorch/part/inner/b.cpp", "tests/part/c_test.cpp")
    assert check_tree(tmp_path, {"part/a.cpp": ["part/c_test.cpp"], "part/inner/b.cpp": ["part/c_test.cpp"]}) == []


def test_a_row_stands_for_one_source_and_not_for_a_folder(check_tree, tmp_path):
    plant(tmp_path, "mindtorch/part/a.cpp", "tests/part/c_test.cpp")
    missing, useless = check_tree(tmp_path, {"part/*": ["part/c_test.cpp"]})
    assert missing.startswith("mindtorch/part/a.cpp has no test") and "'part/*' is not needed" in useless


def test_a_row_whose_test_is_gone_is_found(check_tree, tmp_path):
    plant(tmp_path, "mindtorch/part/a.cpp")
    (found,) = check_tree(tmp_path, {"part/a.cpp": ["part/c_test.cpp"]})
    assert "tests/part/c_test.cpp, which does not exist" in found


@pytest.mark.parametrize("source", ["mindtorch/part/a.cpp", "mindtorch/part/gone.h"])
def test_a_row_that_no_source_needs_is_found(check_tree, tmp_path, source):
    plant(tmp_path, source, "tests/part/a_test.cpp")
    (found,) = check_tree(tmp_path, {"part/a.cpp": ["part/a_test.cpp"]})
    assert "'part/a.cpp' is not needed" in found


def test_the_exit_status_tells_whether_a_test_is_missing(script, tmp_path):
    plant(tmp_path, "mindtorch/part/a.cpp")
    result = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "mindtorch/part/a.cpp has no test" in result.stdout
