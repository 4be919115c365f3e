"""The example of a dispatcher in Python shows kernels under its ops, whoever records the NPU."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "npu_dispatcher.py"


def test_ten_lines_are_enough():
    text = EXAMPLE.read_text()
    first = ast.parse(text).body[1].lineno  # after the docstring
    assert sum(bool(line.strip()) for line in text.splitlines()[first - 1 :]) == 10


@pytest.mark.parametrize("source", ["reference", "mspti"])
def test_kernels_lie_under_the_ops_of_the_dispatcher(source, build_folder):
    environment = {**os.environ, "MINDTORCH_NPU": "reference"}
    if source == "mspti":
        environment["MINDTORCH_NPU"] = "reference,mspti"
        environment["LD_PRELOAD"] = str(build_folder / "doubles" / "mspti_262" / "libmspti.so")
    done = subprocess.run([sys.executable, EXAMPLE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "my::scale" in line)
    columns = re.split(r"\s{2,}", row.strip())
    assert columns[-1] == "1"
    header = next(line for line in done.stdout.splitlines() if "NPU total" in line)
    names = re.split(r"\s{2,}", header.strip())
    assert not columns[names.index("NPU total")].startswith("0.000")
    assert "Launches: 2  Device records: 2  Lost: 0 events" in done.stdout
