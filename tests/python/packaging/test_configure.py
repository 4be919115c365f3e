"""Building where a library of the system is missing: the message says what to install."""

import re
import subprocess

import pytest


@pytest.fixture
def configure(project_root, tmp_path, program):
    """configure(*options) configures the project in a folder of its own with the CMake of the build."""
    cache = (program("mtprof").parent.parent / "CMakeCache.txt").read_text()
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.+)$", cache, re.MULTILINE).group(1)

    def run(*options):
        command = [cmake, "-G", "Ninja", "-S", project_root, "-B", tmp_path, "-DMINDTORCH_BUILD_TESTS=OFF", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def test_all_missing_libraries_are_named_with_the_command_that_installs_them(configure):
    result = configure("-DCMAKE_DISABLE_FIND_PACKAGE_fmt=TRUE", "-DCMAKE_DISABLE_FIND_PACKAGE_simdjson=TRUE")
    assert result.returncode != 0
    assert "sudo apt-get install libfmt-dev libsimdjson-dev\n" in result.stderr
    assert "libzstd-dev" not in result.stderr


def test_without_pkg_config_everything_found_through_it_is_named(configure):
    result = configure("-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=TRUE")
    assert result.returncode != 0
    for package in ("pkg-config", "libzstd-dev", "libopenblas-pthread-dev"):
        assert package in result.stderr
