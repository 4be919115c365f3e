"""The programs of the cases that run under `mtprof run`: `running_programs.py NAME PARAMETERS`, the parameters as JSON."""

import contextlib
import ctypes
import importlib
import json
import os
import random
import signal
import sys
import time


def work(p, scopes):
    """Scopes that are recorded, and a line in a file that says how many."""
    importlib.import_module({"embedded": "mindtorch_v2", "torch": "torch"}[p["host"]])
    from mindtorch_v2.profiler import record_function

    for _ in range(scopes):
        with record_function("work"):
            pass
    with open(f"{p['folder']}/{p['name']}.did", "a") as file:
        file.write(f"{scopes}\n")


def leave(way):
    if way == "os._exit":
        os._exit(0)
    if way == "abort":
        os.abort()
    if way == "exec":
        os.execv("/bin/true", ["true"])
    if way == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "exception":
        raise RuntimeError("leaving")


def simple(p):
    """Works, waits until it is let go, and leaves."""
    if "faults" in p:
        work(p, 1)  # what fails then is not the import
        ctypes.CDLL(None).mindtorch_faults(ctypes.c_uint64(p["faults"][0]), ctypes.c_uint32(p["faults"][1]))
    work(p, p["scopes"])
    if "says" in p:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # standard output may be closed
            print(p["says"], flush=True)
    with open(f"{p['folder']}/{p['name']}.ready", "w") as file:
        file.write(str(os.getpid()))
    while not os.path.exists(f"{p['folder']}/go"):
        time.sleep(0.01)
    leave(p["way"])


def descriptors_taken(p):
    """Closes all descriptors and uses their numbers again and again."""
    work(p, 1)
    from workload import Files

    rng, kept = random.Random(p["draws"]), []
    for _ in range(p["rounds"]):
        kept.append(files := Files(p["folder"], rng.randrange(1, 30)))
        work(p, p["turns"])
        time.sleep(rng.choice([0, 0.01, 0.3]))  # the file is written several times a second
        files.check()


def tree(p):
    """Works, forks children that do the same, replaces itself perhaps, and leaves."""
    rng = random.Random(f"{p['draws']}/{p['branch']}")
    if rng.random() < 0.7:
        work(p, rng.choice([1, 30, 3000]))
    children = []
    for number in range(rng.randrange(3) if p["depth"] else 0):
        pid = os.fork()
        if pid == 0:
            tree(p | {"branch": f"{p['branch']}.{number}", "depth": p["depth"] - 1})
            sys.stderr.flush()
            os._exit(0)
        children.append(pid)
    work(p, rng.choice([1, 30, 3000]))
    for pid in children:
        os.waitpid(pid, 0)
    if rng.random() < 0.3 and p["execs"]:
        again = p | {"branch": f"{p['branch']}.again", "execs": p["execs"] - 1}
        os.execv(sys.executable, [sys.executable, __file__, "tree", json.dumps(again)])
    if any(part.isdigit() for part in p["branch"].split(".")):  # the root, which may have replaced itself, returns
        leave(rng.choice(["os._exit", "abort", "exec", "exception"]))


def family(p):
    """A program and its children, which work until the program is told to end; they handle some signals."""

    def note(number, frame):
        if number == signal.SIGTERM:
            raise SystemExit(3)

    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR2):
        signal.signal(number, note)
    work(p, 10)
    children = []
    for _ in range(p["children"]):
        if (pid := os.fork()) == 0:
            children = []
            break
        children.append(pid)
    with open(f"{p['folder']}/{os.getpid()}.ready", "w"):
        pass
    try:
        while not os.path.exists(f"{p['folder']}/go"):
            work(p, 100)
            time.sleep(0.001)
    finally:
        for pid in children:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM)
                os.kill(pid, signal.SIGCONT)
        for pid in children:
            os.waitpid(pid, 0)


if __name__ == "__main__":
    globals()[sys.argv[1]](json.loads(sys.argv[2]))
