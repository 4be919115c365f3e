"""Shared by the tests of mtprof run: programs that run to their end, and programs that are signalled and killed."""

import json
import os
import signal
import subprocess
import sys

import pytest
from run_programs import has_ended


@pytest.fixture
def run(tmp_path, program):
    """Runs a program text under `mtprof run`, in an empty folder."""

    def call(text, *options, arguments=(), status=0, native=False, environment=None):
        (tmp_path / "train.py").write_text(text)
        start = [program("mtprof")] if native else [sys.executable, "-m", "mindtorch_v2.profiler"]
        command = [*start, "run", *options, *([] if {"--", "-m"} & set(options) else ["train.py"]), *arguments]
        chosen = os.environ | (environment or {})
        done = subprocess.run(command, cwd=tmp_path, env=chosen, capture_output=True, text=True, timeout=300)
        assert done.returncode == status, done.stderr
        return done

    return call


@pytest.fixture
def info(program):
    def call(path):
        done = subprocess.run([program("mtprof"), "info", "--json", path], capture_output=True, text=True)
        return json.loads(done.stdout)

    return call


@pytest.fixture
def runs(tmp_path, program):
    """Starts programs, and ends what is left of them."""
    started = []

    class Runs:
        def __init__(self):
            self.mtprof = program("mtprof")
            self.environment = dict(os.environ)

        def start(self, *words):
            with open(tmp_path / "errors", "w") as errors:  # no pipe: processes of the program can have it longer than the program runs
                command = [str(word) for word in words]
                options = {"stdin": subprocess.DEVNULL, "stdout": errors, "stderr": errors, "start_new_session": True}
                started.append(subprocess.Popen(command, cwd=tmp_path, env=self.environment, **options))
            return started[-1]

        def errors(self):
            return (tmp_path / "errors").read_text()

        def collect(self, *options):
            return subprocess.run([self.mtprof, "collect", *options, tmp_path], env=self.environment, capture_output=True, text=True).stderr

        def scopes(self, path):
            """How many scopes of the program a recording has; None if it cannot be read."""
            done = subprocess.run([self.mtprof, "info", "--json", path], capture_output=True, text=True)
            return json.loads(done.stdout)["kinds"].get("scope", 0) if done.stdout else None

        def recorded(self):
            return sorted(self.scopes(path) for path in tmp_path.glob("out*.mtrec"))

    yield Runs()
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for path in tmp_path.glob("ready-*"):
        if not has_ended(pid := int(path.name.partition("-")[2])):
            os.kill(pid, signal.SIGKILL)
