"""The commands of the Python package run in its process: none of them starts another program of ours."""

import json
import os
import signal
import subprocess
import sys

import pytest

# What Python tells before it starts a process, whatever function asks for it.
PROGRAM = """
import json, os, sys
started = []
def note(event, arguments):
    if event in ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"):
        started.append([event, *map(str, arguments[:2])])
sys.addaudithook(note)
from mindtorch_v2.cli.program import main
status = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    json.dump(started, file)
sys.exit(status)
"""


@pytest.fixture(scope="module")
def recordings(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    subprocess.run([program("make_traces"), folder], check=True)
    return folder


@pytest.fixture
def traced(tmp_path):
    """Runs a command; returns what it printed, and the processes that it started."""

    def run(*arguments):
        command = [sys.executable, "-c", PROGRAM, tmp_path / "started.json", *map(str, arguments)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 1, 3), done.stderr  # 1: something was found; 3: it cannot be told
        return done.stdout, json.loads((tmp_path / "started.json").read_text())

    return run


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("info T", "events"),
        ("table T", "Self CPU"),
        ("validate T", "nesting"),
        ("report T -o page.html", "page.html"),
        ("diff T T", "before "),
        ("check T --baseline T --max step_time=+3%", "limits exceeded"),
        ("export T -o a.json -o a.collapsed", "a.json"),
        ("export T -o a.parquet", "a.parquet"),
        ("export --help", ".averages.parquet"),
        ("ranks T", "rank"),
        ("--version", "."),
    ],
)
def test_a_command_starts_no_process(traced, recordings, command, shows):
    if ".parquet" in command:
        pytest.importorskip("pyarrow")
    printed, started = traced(*[recordings / "full.mtrec" if word == "T" else word for word in command.split()])
    assert shows in printed and started == []


def test_a_question_in_sql_starts_no_process(traced, recordings):
    pytest.importorskip("duckdb")
    printed, started = traced("query", recordings / "full.mtrec", "select count(*) as n from steps", "--json")
    assert json.loads(printed)[0]["n"] > 0 and started == []


def test_run_starts_the_program_of_the_user_and_nothing_else(traced, tmp_path):
    (tmp_path / "program.py").write_text("import mindtorch_v2 as torch\nprint(float((torch.ones(2, 2) * 2).sum()))\n")
    printed, started = traced("run", "-o", "a.mtrec", "program.py")
    assert printed == "8.0\n" and (tmp_path / "a.mtrec").exists()
    assert [event for event, *_ in started].count("subprocess.Popen") == 1
    assert all("program.py" in arguments for event, _, arguments in started if event == "subprocess.Popen")


def test_a_reader_that_goes_away_ends_the_command_quietly(recordings, tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "mindtorch_v2.profiler", "table", recordings / "full.mtrec", "--json"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode in (-signal.SIGPIPE, 141) and done.stderr == ""


def test_an_unknown_command_is_refused_as_by_the_native_program(program):
    answers = []
    for command in ([sys.executable, "-m", "mindtorch_v2.profiler"], [program("mtprof")]):
        done = subprocess.run([*command, "frobnicate"], capture_output=True, text=True)
        answers.append((done.returncode, done.stdout, done.stderr))
    assert answers[0] == answers[1] and answers[0][0] == 2
