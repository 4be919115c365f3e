"""The programs under stress. `programs.py NAME` runs one with parameters that it reads as JSON, and prints its answer as JSON."""

import contextlib
import json
import os
import resource
import signal
import sys
import threading
import warnings

from facts import EVENTS_OF_A_TURN
from mindtorch_v2.profiler import profile, record_function, schedule, tensorboard_trace_handler
from workload import Interruptions, SharedCounter, Workload, config_of, examine, missing_events, resident

warnings.simplefilter("ignore")
sys.setswitchinterval(1e-4)


def export(prof, path):
    """Writes what the suffix of `path` names; memory timelines and stacks have calls of their own."""
    if ".timeline." in path:
        prof.export_memory_timeline(path, "cpu")
    elif path.endswith(".stacks.txt"):
        prof.export_stacks(path)
    elif path.endswith(".chrome.json"):
        export_as_torch_does(prof, path)
    else:
        prof.export_trace(path)


def export_as_torch_does(prof, path):
    """A Chrome trace that cannot be written is a warning, as in torch; here it is the error that the other formats raise."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        prof.export_chrome_trace(path)
    for warning in told:
        raise OSError(f"{path}: {warning.message}")


def fork_child(kind, work, prof, folder):
    """What a child does that is forked while its parent records. It never returns."""
    signal.alarm(200)  # a child that hangs is not waited for
    if kind == "exit":
        os._exit(0)
    if kind == "record":
        work.turns(300)
        os._exit(0)
    if kind == "leave":
        work.turns(300)
        sys.exit(0)
    if kind == "profile":
        with contextlib.suppress(RuntimeError):
            prof.stop()
        with profile() as own:
            work.turns(10)
        own.export_trace(f"{folder}/child-{os.getpid()}.json")
        os._exit(0 if len(own.events()) == 10 * EVENTS_OF_A_TURN else 3)
    os.execv(sys.executable, [sys.executable, "-c", "pass"])


def fork(kind, work, prof, folder):
    pid = os.fork()
    if pid == 0:
        try:
            fork_child(kind, work, prof, folder)
        except SystemExit:
            raise
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(4)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status == 0, f"a child that was to {kind} ended with status {status}"


def record(p):
    """Turns on several threads, with forks and signals in between, under a budget; then exports."""
    work, options = Workload(p["host"]), p["options"]
    of_training = work.events_of_training(options) if p["trainings"] else 0
    warm = profile(**options)
    with warm:
        work.turns(5)
    assert len(warm.events()) == 5 * EVENTS_OF_A_TURN, [event.name for event in warm.events()]
    turns = 0
    with profile(**options, experimental_config=config_of(p)) as prof:
        main = threading.Thread(target=work.turns, args=(p["turns"],))
        main.start()
        with Interruptions(p["signal_seconds"]) as interruptions:
            for step in range(p["steps"]):
                turns += work.in_threads(p["waves"], p["threads"], p["turns"])
                for _ in range(p["trainings"]):
                    work.train()
                if step < len(p["forks"]):
                    fork(p["forks"][step], work, prof, p["folder"])
                prof.step()
        main.join()
        left_open = [record_function(f"left open {number}") for number in range(p["left_open"])]
        for scope in left_open:
            scope.__enter__()
    issued = (turns + p["turns"]) * EVENTS_OF_A_TURN + of_training * p["trainings"] * p["steps"]
    issued += interruptions.handled + p["left_open"]
    found = examine(prof.events(), options)
    for path in p["exports"]:
        export(prof, path)
    losses = [[loss.reason, loss.count, loss.where, loss.detail] for loss in prof.losses()]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"issued": issued, "lost": missing_events(prof.losses()), "losses": losses, "peak_kilobytes": peak}


def spill_for_ever(p):
    """Turns on several threads until the process is killed; each thread says in a file how far it has come."""
    work = Workload(p["host"])
    prof = profile(**p["options"], experimental_config=config_of(p))
    prof.start()

    def run(name):
        counter, number = SharedCounter(f"{p['folder']}/{name}.count"), 0
        while True:
            counter.set(number + 1)  # how many turns have been begun
            work.turn(number)
            number += 1

    threads = [threading.Thread(target=run, args=(f"thread {index}",), daemon=True) for index in range(p["threads"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def export_for_ever(p):
    """Exports of one recording over the same files until the process is killed."""
    work = Workload(p["host"])
    with profile(**p["options"]) as prof:
        work.turns(p["turns"])
    counter, number = SharedCounter(f"{p['folder']}/exports.count"), 0
    while True:
        for path in p["exports"]:
            export(prof, path)
        number += 1
        counter.set(number)


def attempt(call):
    """How a call ended, as part of an answer."""
    try:
        call()
        return {"error": None}
    except Exception as error:
        return {"error": type(error).__name__, "oserror": isinstance(error, OSError), "text": str(error)}


def spill_into(p):
    """One spilling profile after the other; the answer says how each ended."""
    work = Workload(p["host"])

    def spill(path):
        with profile(**p["options"], experimental_config=config_of(p | {"spill_path": path})) as prof:
            work.turns(p["turns"])
        assert len(prof.events()) == p["turns"] * EVENTS_OF_A_TURN

    return {"ended": [attempt(lambda path=path: spill(path)) for path in p["paths"]]}


def export_into(p):
    """One export after the other; the answer says how each ended."""
    work = Workload(p["host"])
    with profile(**p["options"], experimental_config=config_of(p)) as prof:
        work.turns(p["turns"])
    if p.get("file_bytes"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (p["file_bytes"], resource.RLIM_INFINITY))
    if p.get("vanished_folder"):
        os.chdir(p["vanished_folder"])
        os.rmdir(p["vanished_folder"])
    ended = [attempt(lambda path=path: export(prof, path)) for path in p["exports"]]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if p.get("afterwards"):
        export(prof, p["afterwards"])
    return {"ended": ended, "events": len(prof.events())}


def nest(p):
    """Scopes, each inside the one before; then exports."""
    Workload(p["host"])
    scopes = [record_function(f"level {number}") for number in range(p["depth"])]
    with profile(**p["options"]) as prof:
        for scope in scopes:
            scope.__enter__()
        for scope in reversed(scopes):
            scope.__exit__(None, None, None)
    for path in p["exports"]:
        export(prof, path)
    return {"recorded": len(prof.events())}


def name(p):
    """A scope of each name; then exports."""
    Workload(p["host"])
    with profile(**p["options"]) as prof:
        for text in p["names"]:
            with record_function(text):
                pass
    for path in p["exports"]:
        export(prof, path)
    return {}


def scheduled(p):
    """Cycles of a schedule, each written by the handler for TensorBoard."""
    work = Workload(p["host"])
    with profile(
        **p["options"],
        schedule=schedule(**p["schedule"]),
        on_trace_ready=tensorboard_trace_handler(p["traces"], use_gzip=p["gzip"]),
        experimental_config=config_of(p),
    ) as prof:
        for _ in range(p["steps"]):
            work.in_threads(1, p["threads"], p["turns"])
            prof.step()
    return {}


def many_profiles(p):
    """Profiles one after the other; the answer has the resident memory after the first tenth and at the end."""
    work = Workload(p["host"])
    kept = 0
    for number in range(p["profiles"]):
        with profile(**p["options"], experimental_config=config_of(p)) as prof:
            work.in_threads(1, 2, p["turns"])
        assert len(prof.events()) == 2 * p["turns"] * EVENTS_OF_A_TURN
        for path in p["exports"]:
            export(prof, path)
        if number == p["profiles"] // 10:
            kept = resident()
    return {"early": kept, "late": resident()}


if __name__ == "__main__":
    import leaving_programs
    import starving_programs

    wanted = sys.argv[1]
    program = globals().get(wanted) or getattr(leaving_programs, wanted, None) or getattr(starving_programs, wanted)
    answer = program(json.load(sys.stdin))
    print(json.dumps(answer), flush=True)
