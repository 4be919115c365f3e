"""The programs of the cases with a monitor. `monitored_programs.py NAME` reads its parameters as JSON, and prints its answer as JSON."""

import contextlib
import json
import os
import random
import signal
import sys
import threading
import warnings

from mindtorch_v2.profiler import monitor
from workload import Files, Workload

warnings.simplefilter("ignore")
sys.setswitchinterval(1e-4)

_kept_open = []  # the next round closes the numbers; the objects would close those of others


def descriptors_are_taken(p):
    """Closes all descriptors and uses their numbers again and again under a monitor that is asked from inside."""
    work, rng = Workload(p["host"]), random.Random(p["draws"])
    work.turns(1)
    ends = threading.Event()
    with monitor(keep_last=20, folder=p["folder"], max_cost=1.0, slow_steps=False) as mon:

        def ask():
            while not ends.wait(0.001):
                mon.trigger("asked")

        if p["asks"]:
            threading.Thread(target=ask, daemon=True).start()
        for _ in range(p["rounds"]):
            files = Files(p["folder"], rng.randrange(1, 30))
            for _ in range(rng.randrange(20)):
                work.turns(rng.randrange(5))
                mon.step()
            if rng.random() < 0.3:
                mon.trigger(wait=True)
            files.check()
            _kept_open.append(files)
        ends.set()
    files.check()
    return {"files": mon.metrics()["files_written"]}


def steps_until_told(p):
    """Steps until the standard input ends, so that others can ask its monitor."""
    work = Workload(p["host"])
    with monitor(keep_last=20, folder=p["folder"], max_cost=1.0, slow_steps=False) as mon:
        print(os.getpid(), flush=True)
        told = threading.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), told.set()), daemon=True).start()
        while not told.is_set():
            work.turns(3)
            mon.step()
        threads = len(os.listdir("/proc/self/task"))
    return {"steps": mon.metrics()["steps"], "threads": threads}


class Failing:
    """A function of the program that raises, triggers, forks or stops the monitor, as it is drawn."""

    def __init__(self, draws, mon):
        self._rng, self.mon = random.Random(draws), mon

    def __call__(self, _):
        way = self._rng.choice(["nothing", "nothing", "exit", "interrupt", "memory", "trigger", "wait", "fork", "system"])
        if way == "exit":
            raise SystemExit(3)
        if way == "interrupt":
            raise KeyboardInterrupt
        if way == "memory":
            raise MemoryError
        if way == "system":
            raise OSError(24, "Too many open files")
        if way == "trigger":
            self.mon[0].trigger("from a handler")
        if way == "wait":
            self.mon[0].trigger("from a handler", wait=True)
        if way == "fork" and os.fork() == 0:
            os._exit(0)


def everything_fails(p):
    """Handlers that fail in any way, threads that ask, signals, forks, and a way to leave. It must end as it would without a monitor."""
    work, rng = Workload(p["host"]), random.Random(p["draws"])
    handles = []
    with contextlib.redirect_stderr(None if p["mute"] else sys.stderr):
        mon = monitor(
            keep_last=20,
            folder=p["folder"],
            max_cost=p["max_cost"],
            slow_steps=0.5,
            pause="1ms",
            hang_after="1ms" if p["hangs"] else None,
            signals=[signal.SIGUSR1],
            metrics_every="1ms",
            handlers=[Failing(p["draws"], handles)],
            on_trace_ready=Failing(p["draws"] + 1, handles) if p["handler"] else None,
        )
        handles.append(mon)
        requests = []
        with mon:
            for _ in range(p["threads"]):
                threading.Thread(target=lambda: requests.extend(mon.trigger(wait=True) for _ in range(5)), daemon=True).start()
            for _ in range(p["steps"]):
                work.turns(rng.randrange(4))
                mon.step()
                happening = rng.random()
                if happening < 0.02:
                    os.kill(os.getpid(), signal.SIGUSR1)
                elif happening < 0.03:
                    fork_child(mon, work)
                elif happening < 0.04:
                    requests.append(mon.trigger(rng.choice(["a/b", "", "\udcff", "x" * 300])))
            if p["leaves"] == "exception":
                raise ZeroDivisionError("of the program")
            if p["leaves"] == "exit":
                sys.exit(7)
        assert all(request.done.wait(60) for request in requests), "a request has not ended"
    return {}


def fork_child(mon, work):
    """A child that goes on as if it were the parent, leaves the block and ends."""
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0, "a child did not end as it would without a monitor"
        return
    status = 1
    with contextlib.suppress(BaseException):
        work.turns(2)
        mon.step()
        assert mon.trigger(wait=True).error
        mon.__exit__(None, None, None)
        status = 0
    os._exit(status)


if __name__ == "__main__":
    answer = globals()[sys.argv[1]](json.loads(sys.stdin.readline()))
    print(json.dumps(answer), flush=True)
