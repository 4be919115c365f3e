"""The programs of the cases that leave while recording, and of those that spill and read back. Run by programs.py."""

import atexit
import os
import random
import signal
import sys
import threading

from facts import EVENTS_OF_A_TURN
from mindtorch_v2.profiler import profile, record_function
from workload import Workload, config_of, examine, missing_events


def leave_while_recording(p):
    """Leaves the interpreter in one of several ways while daemon threads record."""
    work = Workload(p["host"])
    prof = profile(**p["options"], experimental_config=config_of(p))
    prof.start()

    # PyTorch itself aborts if daemon threads run its ops while the interpreter exits, with or without a profiler.
    def for_ever():
        while True:
            with record_function("in a daemon thread"):
                if p["host"] == "embedded":
                    work.turns(1)

    for _ in range(p["threads"]):
        threading.Thread(target=for_ever, daemon=True).start()
    work.turns(p["turns"])
    if p["stopped"]:
        prof.stop()
    way = p["way"]
    if way == "sys.exit":
        sys.exit(7)
    elif way == "exception":
        raise RuntimeError("leaving")
    elif way == "exit in thread":
        thread = threading.Thread(target=sys.exit)
        thread.start()
        thread.join()
    elif way == "atexit stop" and not p["stopped"]:
        atexit.register(prof.stop)
    elif way == "os._exit":
        os._exit(0)
    elif way == "quick thread":
        threading.Thread(target=work.turns, args=(50,)).start()  # the interpreter waits for it while it exits


class Interrupt:
    """Raises KeyboardInterrupt once, a random time after it was armed."""

    def __init__(self):
        self.raised = 0
        signal.signal(signal.SIGALRM, self.handle)

    def handle(self, number, frame):
        self.raised += 1
        raise KeyboardInterrupt

    def arm(self, seconds):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def interrupt(p):
    work, rng, timer, caught = Workload(p["host"]), random.Random(p["draws"]), Interrupt(), 0
    for _ in range(p["rounds"]):
        prof = profile(**p["options"], experimental_config=config_of(p))
        try:
            try:
                timer.arm(rng.uniform(1e-5, p["most_seconds"]))
                prof.start()
                work.turns(p["turns"])
                prof.step()
                prof.stop()
                for path in p["exports"]:
                    prof.export_trace(path)
            finally:
                timer.arm(0)
        except KeyboardInterrupt:
            caught += 1
        if prof.running:
            prof.stop()
        del prof
        with profile(**p["options"]) as after:
            work.turns(3)
        assert len(after.events()) == 3 * EVENTS_OF_A_TURN, [event.name for event in after.events()]
    return {"raised": timer.raised, "caught": caught}


def outcome(prof, issued, options):
    """What a profile says about itself, or the error that it gives."""
    try:
        found = examine(prof.events(), options)
        losses = [[loss.reason, loss.count, loss.detail] for loss in prof.losses()]
        return found | {"issued": issued, "lost": missing_events(prof.losses()), "losses": losses, "error": None}
    except (RuntimeError, OSError, ValueError) as error:
        return {"issued": issued, "error": str(error)}


def cut_spill_file(p):
    """Cuts the spill file between stop() and the first question."""
    work = Workload(p["host"])
    with profile(**p["options"], experimental_config=config_of(p)) as prof:
        work.turns(p["turns"])
    if p["keep_share"] is not None:
        size = os.stat(p["spill_path"]).st_size
        os.truncate(p["spill_path"], int(size * p["keep_share"]))
    return outcome(prof, p["turns"] * EVENTS_OF_A_TURN, p["options"])


def share_spill_path(p):
    """Two profiles, one after the other, with the same spill_path."""
    work = Workload(p["host"])
    profiles, refused = [], None
    for turns in p["turns"]:
        try:
            with profile(**p["options"], experimental_config=config_of(p)) as prof:
                work.turns(turns)
        except (RuntimeError, OSError, ValueError) as error:
            refused = str(error)
            break
        profiles.append((prof, turns * EVENTS_OF_A_TURN))
        if p["read_between"]:
            len(prof.events())
    return {"profiles": [outcome(prof, issued, p["options"]) for prof, issued in profiles], "refused": refused}
