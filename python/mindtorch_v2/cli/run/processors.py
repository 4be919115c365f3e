"""How the processors were used while a program was recorded: by the program with all its processes, and by other programs.

A program on a busy machine waits for processors, and for its own processes that wait for them. A report has to know that.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from mindtorch_v2.base.run_delay import run_delay_ns

_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_IDLE = (3, 4)  # columns of /proc/stat: idle, and idle because of input and output
_GUEST = 8  # the columns from here on are contained in others


@dataclass(frozen=True)
class Use:
    """Seconds of processors since they started, and those of the program among them."""

    processors: int
    whole: float
    busy: float
    own: float

    @classmethod
    def now(cls, root: int) -> Use | None:
        """Of the processors that this process may use, and of `root` with all processes below it. None where the system does not tell."""
        try:
            allowed = os.sched_getaffinity(0)
            whole = busy = 0
            for line in Path("/proc/stat").read_text().splitlines():
                name, *times = line.split()
                if not name.startswith("cpu") or name == "cpu" or int(name[3:]) not in allowed:
                    continue
                ticks = [int(time) for time in times[:_GUEST]]
                whole += sum(ticks)
                busy += sum(time for column, time in enumerate(ticks) if column not in _IDLE)
            return cls(len(allowed), whole / _TICKS, busy / _TICKS, _seconds_of_tree(root))
        except (AttributeError, OSError, ValueError):
            return None


def _seconds_of_tree(root: int) -> float:
    """Processor time of a process, of the processes below it, and of those that these have waited for."""
    ticks, open_pids = 0, {root, os.getpid()}
    seen: set[int] = set()
    while open_pids:
        pid = open_pids.pop()
        if pid in seen:
            continue
        seen.add(pid)
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(time) for time in fields[11:15])
            for children in Path(f"/proc/{pid}/task").glob("*/children"):
                open_pids.update(int(child) for child in children.read_text().split())
    return ticks / _TICKS


class ProcessorUse:
    """From one moment to another. `root` is the process that started the program; the current process if there is none. The thread that
    makes this runs the program's loop."""

    def __init__(self, root: int = 0):
        self._root = root or os.getpid()
        self._thread = threading.get_native_id()
        self._delay, self._time = run_delay_ns(self._thread), time.monotonic_ns()
        self._began = Use.now(self._root)

    def metadata(self) -> dict[str, str]:
        """Of the time until now, for the metadata of a recording; empty if nothing is known."""
        began, now = self._began, Use.now(self._root)
        if began is None or now is None or now.whole <= began.whole:
            return {}
        whole = now.whole - began.whole
        own = min(1.0, max(0.0, (now.own - began.own) / whole))
        others = min(1.0 - own, max(0.0, (now.busy - began.busy) / whole - own))
        shares = {"processors": now.processors, "processors_own": round(own, 3), "processors_others": round(others, 3)}
        delay = run_delay_ns(self._thread)
        if delay is not None and self._delay is not None:
            waited = (delay - self._delay) / max(1, time.monotonic_ns() - self._time)
            shares["processors_missing"] = round(min(1.0, max(0.0, waited)), 3)  # to the loop's thread, which was ready to run
        return {key: json.dumps(value) for key, value in shares.items()}
