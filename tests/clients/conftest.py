"""Runs the clients: one process for each way, shared by all tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def run_clients(build_folder, tmp_path_factory):
    """Returns what the clients of a module did one way. Each way is run once."""
    known = {}

    def run(way, chosen="clients"):
        if (way, chosen) not in known:
            folder = tmp_path_factory.mktemp(way)
            command = [sys.executable, str(HERE / "run_clients.py"), way, str(folder / "files"), str(folder / "results.json"), chosen]
            if way == "mtprof_run":
                command = [sys.executable, "-m", "mindtorch_v2.profiler", "run", "--take-over", "--", *command]
            path = os.pathsep.join([str(build_folder / "python"), str(HERE)])
            environment = {**os.environ, "PYTHONPATH": path, "TORCH_CPP_LOG_LEVEL": "ERROR"}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
            assert done.returncode == 0, done.stderr[-3000:]
            known[way, chosen] = json.loads((folder / "results.json").read_text())
        return known[way, chosen]

    return run
