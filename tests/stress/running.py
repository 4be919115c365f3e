"""Cases of `mtprof run`: several runs in one folder, trees of processes that fork and exec, and signals to each process of a tree."""

import json
import os
import signal
import sys
import time

import checks
from case import HERE, Failure, require

WAYS = ["return", "os._exit", "abort", "exec", "exception"]
STATUS = {"return": 0, "os._exit": 0, "abort": -signal.SIGABRT, "exec": 0, "exception": 1}


def start(case, output, program, *, env=None, before="", is_run=True, **parameters):
    """Starts a program of running_programs.py under `mtprof run`, or alone. A shell does what is to be done before."""
    parameters = {"host": case.host, "folder": str(case.folder)} | parameters
    case.parameters.setdefault("programs", []).append([output, program, parameters])
    command = [sys.executable, HERE / "running_programs.py", program, json.dumps(parameters)]
    if is_run:
        command = [case.setup.build / "bin" / "mtprof", "run", *(["-o", output] if output else []), "--", *command]
    if before:
        command = ["/bin/sh", "-c", f'{before}; exec "$@"', "sh", *command]
    return case.start(command, env=env or {})


def until(case, condition, what):
    deadline = time.monotonic() + case.setup.limit
    while not (found := condition()):
        require(time.monotonic() < deadline, f"this never happened: {what}")
        time.sleep(0.01)
    return found


def collect_everything(case):
    """Collects until no folder of a run is left."""

    def is_done():
        case.mtprof("collect", case.folder)
        return not list(case.folder.glob(".*.parts"))

    until(case, is_done, f"everything is collected; {[str(path) for path in case.folder.glob('.*.parts/*')]}")


def recorded(case):
    """How many scopes each recording has. All must be readable."""
    return [checks.info_of(case, path, expected=(0, 1))["kinds"].get("scope", 0) for path in case.folder.glob("*.mtrec")]


def did(path):
    return sum(map(int, path.read_text().split()))


def several_runs_at_once(case):
    """Runs in one folder, some with the same output and some whose mtprof is killed: each has its recording and its status."""
    rng = case.random
    runs = []
    for number in range(rng.randrange(2, 5)):
        way, is_killed = rng.choice(WAYS), rng.random() < 0.3
        # Each has another number of scopes, so that its recording can be told.
        program = start(case, rng.choice(["x.mtrec", None]), "simple", name=f"run{number}", scopes=100 + number, way=way)
        runs.append((program, way, is_killed))
    for number, (program, _, is_killed) in enumerate(runs):
        ready = case.folder / f"run{number}.ready"
        until(case, lambda ready=ready: ready.exists() and ready.read_text(), "the program is ready")
        if is_killed:
            program.kill()
    (case.folder / "go").touch()
    for program, way, is_killed in runs:
        case.finish(program, expected=(-signal.SIGKILL if is_killed else STATUS[way],))
    collect_everything(case)
    require(sorted(recorded(case)) == [100 + number for number in range(len(runs))], f"recordings are missing: {recorded(case)}")


def processes_fork_and_exec(case):
    """A tree of processes that fork, replace themselves and leave in all ways: every scope that ended is recorded once."""
    rng = case.random
    program = start(case, "x.mtrec", "tree", name="tree", branch="root", depth=rng.choice([1, 2]), execs=2, draws=rng.getrandbits(32))
    case.finish(program)
    collect_everything(case)
    expected = did(case.folder / "tree.did")
    require(sum(recorded(case)) == expected, f"{expected} scopes were to be recorded, there are {recorded(case)}")


def signals_reach_a_tree(case):
    """Signals to mtprof, to its program and to the children of that: mtprof ends as the program does, and what was recorded is kept."""
    rng = case.random
    children = rng.choice([0, 1, 3])
    program = start(case, "x.mtrec", "family", name="family", children=children)
    until(case, lambda: len(list(case.folder.glob("*.ready"))) == children + 1, "all processes are ready")
    pids = [program.pid, *(int(path.stem) for path in case.folder.glob("*.ready"))]
    numbers = [signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR2, signal.SIGCONT, signal.SIGWINCH]
    case.parameters["signals"] = sent = [[rng.randrange(len(pids)), int(rng.choice(numbers))] for _ in range(rng.choice([5, 50]))]
    for index, number in sent:
        os.kill(pids[index], number)
        time.sleep(rng.choice([0, 0, 0.003]))
    require(program.poll() is None, "a signal ended mtprof alone")
    end = case.parameters["end"] = rng.choice(["go", "SIGTERM", "SIGKILL"])
    if end == "go":
        (case.folder / "go").touch()
        case.finish(program)
    elif end == "SIGTERM":
        program.terminate()  # reaches the program, which leaves with status 3
        case.finish(program, expected=(3,))
    else:
        program.kill()
        (case.folder / "go").touch()
        case.finish(program, expected=(-signal.SIGKILL,))
    collect_everything(case)
    found = sum(recorded(case))
    if end != "SIGTERM":  # which may come between a scope and the line that tells it
        require(found == did(case.folder / "family.did"), f"{did(case.folder / 'family.did')} scopes were recorded, there are {found}")
    elif found == 0:
        raise Failure("nothing was recorded")


CASES = [several_runs_at_once, processes_fork_and_exec, signals_reach_a_tree]
