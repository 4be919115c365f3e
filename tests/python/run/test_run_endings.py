"""mtprof run: whichever way a process ends, whatever kind of process it is, and whether mtprof lives or not, its recording is kept.

docs/report.md has the outcomes as tables, which are compared with what is measured here.
"""

import os
import re
import signal
import struct
import sys
from pathlib import Path

import pytest
from run_programs import LIMIT, has_ended, until

PROGRAM = """
import mmap, multiprocessing, os, struct, sys, time

def work(count):
    from mindtorch_v2.profiler import record_function
    for _ in range(count):
        with record_function("work"):
            pass

def work_until_killed():
    # One scope in each millisecond at most; a file that outlives the process says how many there were.
    with open(f"done-{os.getpid()}", "w+b") as file:
        file.write(bytes(8))
        file.flush()
        done = mmap.mmap(file.fileno(), 8)
    for number in range(1, 10_000_000):
        work(1)
        done[:] = struct.pack("q", number)
        time.sleep(0.001)

def worker(way):
    work(100)
    open(f"ready-{os.getpid()}", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
    if way == "sys.exit":
        sys.exit(3)
    elif way == "exception":
        raise ValueError("wrong")
    elif way == "os._exit":
        os._exit(4)
    elif way == "os.abort":
        os.abort()
    elif way == "os.execv":
        os.execv("/bin/true", ["true"])
    elif way != "return":
        work_until_killed()

def main(kind, way):
    if kind == "plain":
        worker(way)
    elif kind == "execed":
        if "again" in sys.argv:
            worker(way)
        else:
            work(50)
            os.execv(sys.executable, [sys.executable, *sys.argv, "again"])
    elif kind in ("forked", "daemon"):
        import mindtorch_v2

        pid = os.fork()
        if pid == 0:
            if kind == "daemon":
                os.setsid()
                if os.fork() > 0:
                    os._exit(0)
            worker(way)
            sys.exit(0)
        os.waitpid(pid, 0)
    else:
        child = multiprocessing.get_context(kind.removeprefix("lazy ")).Process(target=worker, args=(way,))
        child.start()
        child.join()

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
"""

# Ways to end, and the exit status of a plain program.
STATUS = {
    "return": 0,
    "sys.exit": 3,
    "exception": 1,
    "os._exit": 4,
    "os.abort": -signal.SIGABRT,
    "os.execv": 0,
    "SIGTERM": -signal.SIGTERM,
    "SIGKILL": -signal.SIGKILL,
}
KINDS = ["plain", "execed", "forked", "lazy fork", "spawn", "forkserver", "daemon"]
QUICK = {("plain", way) for way in STATUS} | {(kind, way) for kind in KINDS for way in ("return", "os._exit", "SIGKILL")}
CASES = [
    pytest.param(
        kind, way, ends, marks=[] if (kind, way) in QUICK else pytest.mark.slow, id=f"{kind}-{way}-{'killed' if ends else 'stays'}"
    )
    for kind in KINDS
    for way in STATUS
    for ends in (False, True)
]


# In the tables of docs/report.md: what is lost besides the ends of open scopes, and the exit status of mtprof.
PAGE = Path(__file__).resolve().parents[3] / "docs" / "report.md"
COLUMNS = {
    "plain": "the program",
    "execed": "after `os.execv`",
    "forked": "forked",
    "lazy fork": "`fork`",
    "spawn": "`spawn`",
    "forkserver": "`forkserver`",
    "daemon": "daemon",
}
MOST_LOST = 1000  # scopes of work_until_killed(): those of a second


def rows_after(mark):
    lines = re.search(f"{re.escape(mark)}\n((?:\\|.*\n)+)", PAGE.read_text())[1].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def told():
    """The cells of both tables: {(kind, way, launcher is killed): cell}."""
    cells, kinds = {}, {column: kind for kind, column in COLUMNS.items()}
    for is_killed, mark in ((False, "<!-- endings: mtprof lives -->"), (True, "<!-- endings: mtprof is killed -->")):
        head, _, *rows = rows_after(mark)
        for way, *outcomes in rows:
            for column, outcome in zip(head[1:], outcomes, strict=True):
                cells[kinds[column], way.strip("`"), is_killed] = outcome
    return cells


def described(lost, status):
    """A cell."""
    text = "nothing" if lost == 0 else "less than 1 s"
    return text if status is None else f"{text}; {status}"


def done_until_killed(folder, pid):
    path = folder / f"done-{pid}"
    return struct.unpack("q", path.read_bytes())[0] if path.exists() else 0


@pytest.mark.parametrize(("kind", "way", "launcher_is_killed"), CASES)
def test_what_is_lost_is_what_the_documentation_says(runs, tmp_path, kind, way, launcher_is_killed):
    (tmp_path / "train.py").write_text(PROGRAM)
    launcher = runs.start(runs.mtprof, "run", "-o", "out.mtrec", "train.py", kind, way)
    pid = int(until(lambda: list(tmp_path.glob("ready-*")))[0].name.partition("-")[2])
    status = None
    if launcher_is_killed:
        launcher.kill()
        launcher.wait()
    elif kind == "daemon":
        status = launcher.wait(LIMIT)  # at once, although the daemon goes on
        assert f"process {pid}: still recording" in runs.errors()
        assert runs.recorded() == []
    (tmp_path / "go").touch()
    if way.startswith("SIG"):
        # Written by time: nothing fills a block here.
        until(lambda: any((runs.scopes(path) or 0) > 100 for path in tmp_path.glob(f".*.parts/{pid}-*.partial.mtrec")))
        os.kill(pid, getattr(signal, way))
    if launcher_is_killed or kind == "daemon":
        until(lambda: has_ended(pid))
        until(lambda: runs.collect() is not None and not list(tmp_path.glob(".*.parts")))  # others may end a little later
    else:
        status = launcher.wait(LIMIT)
    issued = 100 + done_until_killed(tmp_path, pid)
    before, recorded = ([50], runs.recorded()[1:]) if kind == "execed" else ([], runs.recorded())
    assert runs.recorded() == before + recorded and len(recorded) == 1, runs.errors()
    lost = issued - recorded[0]
    if way.startswith("SIG"):
        # The last scope may have been recorded and not counted yet.
        assert -1 <= lost < MOST_LOST
        lost = 1
    assert described(lost, status) == told()[kind, way, launcher_is_killed]
    assert not list(tmp_path.glob(".*.parts"))


def test_a_daemon_that_begins_late_is_not_taken_for_the_end(runs, tmp_path):
    text = PROGRAM.replace("import mindtorch_v2\n", "os.register_at_fork(after_in_child=lambda: time.sleep(0.3)); import mindtorch_v2\n")
    assert text != PROGRAM
    (tmp_path / "train.py").write_text(text)
    launcher = runs.start(runs.mtprof, "run", "-o", "out.mtrec", "train.py", "daemon", "return")
    assert launcher.wait(LIMIT) == 0
    assert "still recording" in runs.errors()
    (tmp_path / "go").touch()
    until(lambda: runs.collect() is not None and not list(tmp_path.glob(".*.parts")))
    assert runs.recorded() == [100]


def test_the_tables_have_every_way_to_end_and_every_kind_of_process():
    assert set(told()) == {(kind, way, is_killed) for kind in KINDS for way in STATUS for is_killed in (False, True)}


@pytest.mark.parametrize("way", STATUS)
def test_a_program_that_is_not_recorded_has_the_same_status(runs, tmp_path, way):
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "go").touch()
    alone = runs.start(sys.executable, "train.py", "plain", way)
    if way.startswith("SIG"):
        until(lambda: list(tmp_path.glob("ready-*")))
        alone.send_signal(getattr(signal, way))
    assert alone.wait(LIMIT) == STATUS[way]
