"""tools/bench_table.py: JSON lines become a table that people can read."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def table(project_root):
    def run(*lines):
        command = [sys.executable, project_root / "tools" / "bench_table.py"]
        return subprocess.run(command, input="".join(line + "\n" for line in lines), capture_output=True, text=True, check=True)

    return run


def test_each_result_is_a_row_below_its_heading(table):
    result = {"name": "record/scope", "ours": 23.4567, "peer": "floor", "peer_value": 20.0, "ratio": 1.17283, "unit": "ns", "note": "hot"}
    heading, row = table(json.dumps(result)).stdout.splitlines()
    assert row.split() == ["record/scope", "23.46", "ns", "floor", "20", "1.173", "hot"]
    assert heading.index("unit") == row.index("ns")


def test_a_result_without_a_peer_has_dashes(table):
    result = {"name": "a", "ours": 12345678.9, "peer": None, "peer_value": None, "ratio": None, "unit": "bytes", "note": ""}
    assert table(json.dumps(result)).stdout.splitlines()[1].split() == ["a", "12,345,679", "bytes", "-", "-", "-"]


def test_other_lines_go_to_standard_error(table):
    result = table("warming up")
    assert result.stderr == "warming up\n"
    assert len(result.stdout.splitlines()) == 1
