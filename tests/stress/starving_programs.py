"""The programs of the cases in which the profiler gets less than it asks for. Run by programs.py."""

import contextlib
import ctypes
import os
import random
import resource
import sys
import threading
import time
from collections import Counter

from facts import EVENTS_OF_A_TURN
from mindtorch_v2.profiler import monitor, profile, record_function
from workload import Files, Workload, config_of, examine, missing_events, resident


class Faults:
    """`with faults:` lets calls of the profiler fail (faults.cpp, which the program has preloaded)."""

    def __init__(self, draws, per_million):
        self._library = ctypes.CDLL(None)
        self._library.mindtorch_faults.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
        self._library.mindtorch_faults_so_far.restype = ctypes.c_uint64
        self._rng, self._per_million = random.Random(draws), per_million

    def __enter__(self):
        self._library.mindtorch_faults(self._rng.getrandbits(63), self._per_million)

    def __exit__(self, *_):
        self._library.mindtorch_faults(0, 0)

    @property
    def count(self):
        return self._library.mindtorch_faults_so_far()


class Unexpected:
    """Errors that the program should not have got."""

    def __init__(self):
        self.found = []

    @contextlib.contextmanager
    def watching(self, where):
        try:
            yield
        except BaseException as error:
            self.found.append(f"{where}: {type(error).__name__}: {error}")


def works_again(work):
    """The next profile has what it should have."""
    with profile() as after:
        work.turns(3)
    found = [event.name for event in after.events()]
    assert len(found) == 3 * EVENTS_OF_A_TURN, found


def some_work(p, work, unexpected):
    """What must not fail with the profiler. Ops of the embedded runtime ask for memory in the same library, so they are left out."""
    with unexpected.watching("the work"):
        for _ in range(p["scopes"]):
            with record_function("scope"):
                pass
        if p["host"] == "torch":
            work.turns(min(p["scopes"], 100))


def recorded_or_refused(p, prof, work, refused, during):
    """Records and exports; what is refused is counted."""
    try:
        prof.start()
        during()
        prof.step()
        prof.stop()
        for path in p["exports"]:
            prof.export_trace(path)
        len(prof.events())
    except (MemoryError, OSError, RuntimeError) as error:
        refused[type(error).__name__] += 1


def with_faults(p):
    work, refused, unexpected = Workload(p["host"]), Counter(), Unexpected()
    works_again(work)  # what is made once per process is there
    faults = Faults(p["draws"], p["per_million"])

    def during():
        threads = [threading.Thread(target=some_work, args=(p, work, unexpected)) for _ in range(p["threads"])]
        for thread in threads:
            thread.start()
        some_work(p, work, unexpected)
        for thread in threads:
            thread.join()

    for _ in range(p["rounds"]):
        prof = profile(**p["options"], experimental_config=config_of(p))
        with faults:
            recorded_or_refused(p, prof, work, refused, during)
        if prof.running:
            prof.stop()
        del prof
        works_again(work)
    return {"refused": refused, "failed": faults.count, "unexpected": unexpected.found[:5]}


def monitor_with_faults(p):
    work, rng, unexpected = Workload(p["host"]), random.Random(p["draws"]), Unexpected()
    works_again(work)
    faults = Faults(p["draws"], p["per_million"])
    errors = Counter()
    for _ in range(p["rounds"]):
        mon = monitor(keep_last=20, folder=p["folder"], max_cost=1.0, slow_steps=0.5, pause="1ms", hang_after="1ms", **p["options"])
        with faults, unexpected.watching("the block"), mon:
            for _ in range(p["steps"]):
                with record_function("scope"):
                    pass
                mon.step()
                if rng.random() < 0.05:
                    errors[str(mon.trigger(wait=True).error)[:60]] += 1
        works_again(work)
    return {"errors": errors, "failed": faults.count, "unexpected": unexpected.found[:5]}


def monitor_threads_die(p):
    """Raises exceptions in all threads of Python but those of the program."""
    work, rng, unexpected = Workload(p["host"]), random.Random(p["draws"]), Unexpected()
    own = {threading.get_ident()}
    ends = threading.Event()

    def kill():
        own.add(threading.get_ident())
        for _ in range(p["kills"]):
            if ends.wait(rng.random() * 0.05):
                return
            for ident in set(sys._current_frames()) - own:
                kind = rng.choice([SystemExit, KeyboardInterrupt, MemoryError, OSError])
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(kind))

    mon = monitor(keep_last=20, folder=p["folder"], max_cost=1.0, slow_steps=0.5, pause="1ms", metrics_every="1ms", **p["options"])
    killer = threading.Thread(target=kill)
    with unexpected.watching("the block"), mon:
        killer.start()
        for _ in range(p["steps"]):
            work.turns(2)
            mon.step()
            if rng.random() < 0.05:
                mon.trigger(wait=True)
            time.sleep(0.0002)  # so that the others have a turn
        ends.set()
    killer.join()
    works_again(work)
    return {"unexpected": unexpected.found[:5]}


class Hog:
    """Takes all descriptors that are left, and gives them back."""

    def __init__(self, limit):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        self._taken = []

    def take(self):
        with contextlib.suppress(OSError):
            while True:
                self._taken.append(os.dup(0))

    def give_back(self):
        for number in self._taken:
            os.close(number)  # fails if somebody else has closed a number of the program
        self._taken.clear()


def short_of_descriptors(p):
    work, rng, refused, unexpected = Workload(p["host"]), random.Random(p["draws"]), Counter(), Unexpected()
    works_again(work)
    hog = Hog(limit=256)

    def during():
        with unexpected.watching("the work"):
            for _ in range(5):
                rng.choice([hog.take, hog.give_back])()
                work.turns(p["turns"])

    for _ in range(p["rounds"]):
        prof = profile(**p["options"], experimental_config=config_of(p))
        rng.choice([hog.take, hog.give_back])()
        recorded_or_refused(p, prof, work, refused, during)
        if prof.running:
            prof.stop()
        with unexpected.watching("giving descriptors back"):
            hog.give_back()
        works_again(work)
    return {"refused": refused, "unexpected": unexpected.found[:5]}


def short_of_memory(p):
    """Errors of the program itself are possible here: it asks for memory, too."""
    work, rng, refused = Workload(p["host"]), random.Random(p["draws"]), Counter()
    works_again(work)

    def in_thread():
        with contextlib.suppress(MemoryError, RuntimeError):
            work.turns(p["turns"])

    def during():
        threads = [threading.Thread(target=in_thread) for _ in range(p["threads"])]
        for thread in threads:
            thread.start()
        try:
            work.turns(p["turns"])
        finally:
            for thread in threads:
                thread.join()

    rounds = 0
    for _ in range(p["rounds"]):
        prof = profile(**p["options"], experimental_config=config_of(p))
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (rng.choice([1, 4, 12, 40]) << 20), resource.RLIM_INFINITY))
        recorded_or_refused(p, prof, work, refused, during)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if prof.running:
            prof.stop()
        del prof
        works_again(work)
        rounds += 1
    return {"refused": refused, "rounds": rounds}


def descriptors_taken_while_spilling(p):
    work, rng, turns, kept = Workload(p["host"]), random.Random(p["draws"]), 0, []
    with profile(**p["options"], experimental_config=config_of(p)) as prof:
        for _ in range(p["rounds"]):
            kept.append(files := Files(p["folder"], rng.randrange(1, 30)))
            work.turns(p["turns"])
            turns += p["turns"]
            time.sleep(rng.choice([0, 0.01, 0.3]))  # the file is written several times a second
            files.check()
    files.check()
    found = examine(prof.events(), p["options"])
    return {"recorded": found["recorded"], "lost": missing_events(prof.losses()), "issued": turns * EVENTS_OF_A_TURN}


def crowd(p):
    """Threads by the thousand, a number of them at a time."""
    work, scopes = Workload(p["host"]), p["scopes"]
    works_again(work)

    def some_scopes():
        for _ in range(scopes):
            with record_function("scope"):
                pass

    def wave(target):
        threads = [threading.Thread(target=target) for _ in range(p["at_once"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    threading.stack_size(256 << 10)
    wave(lambda: None)  # the memory of the threads themselves
    before, grown, started = resident(), 0, 0
    prof = profile(**p["options"], experimental_config=config_of(p))
    prof.start()
    while started < p["threads"]:
        wave(some_scopes)
        started += p["at_once"]
        if started % 200 < p["at_once"]:
            grown = max(grown, resident() - before)
    prof.stop()
    losses = prof.losses()
    recorded = sum(1 for event in prof.events() if event.name == "scope")
    return {
        "recorded": recorded,
        "lost": missing_events(losses),
        "issued": started * scopes,
        "loss_rows": len(losses),
        "grown": grown,
        "losses": [[loss.reason, loss.count, loss.detail] for loss in losses][:5],
    }
