"""Python without a GIL (3.14t): the package has Python enable the GIL, and says so where that was forbidden."""

import os
import subprocess
import sys
import sysconfig

import pytest

pytestmark = pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has a GIL")


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300
    )


def test_importing_the_package_enables_the_gil():
    done = run("import sys, mindtorch_v2; print(sys._is_gil_enabled())")
    assert done.stdout == "True\n"
    assert "mindtorch_v2._C" in done.stderr, "Python warns about it"


def test_where_the_gil_stays_disabled_the_import_fails_and_says_why():
    done = run("import mindtorch_v2", PYTHON_GIL="0")
    assert done.returncode != 0
    assert "ImportError: mindtorch_v2 needs the GIL" in done.stderr
