"""Names of Python's threads in traces: before 3.14, Python does not tell the system what threading.Thread(name=...) says."""

import contextlib
import sys
import threading
from pathlib import Path

_SYSTEM_IS_TOLD_BY_PYTHON = sys.version_info >= (3, 14)
_LONGEST = 15  # bytes, by Linux


class ThreadNames:
    """Tells the system the names of threads that exist at start() or begin before stop(), as later versions of Python do by themselves.

    A thread that has a name of its own in the system keeps it.
    """

    def __init__(self):
        self._replaced = None

    def start(self):
        if _SYSTEM_IS_TOLD_BY_PYTHON or self._replaced is not None:
            return
        for thread in threading.enumerate():
            _tell(thread)
        set_native_id = threading.Thread._set_native_id

        def set_native_id_and_name(thread):  # a new thread calls this first
            set_native_id(thread)
            _tell(thread)

        self._replaced = set_native_id, set_native_id_and_name
        threading.Thread._set_native_id = set_native_id_and_name

    def stop(self):
        if self._replaced is None:
            return
        before, ours = self._replaced
        self._replaced = None
        if threading.Thread._set_native_id is ours:  # else the program has replaced it in the meantime
            threading.Thread._set_native_id = before

    cleanup = stop


def _tell(thread):
    main = threading.main_thread()
    if thread is main or thread.native_id is None:
        return
    with contextlib.suppress(OSError):  # the thread has ended, or the system is not Linux
        tasks = Path("/proc/self/task")
        place = tasks / str(thread.native_id) / "comm"
        # A new thread inherits the name of the one that started it.
        if place.read_bytes() == (tasks / str(main.native_id) / "comm").read_bytes():
            place.write_bytes(thread.name.encode(errors="replace")[:_LONGEST].decode(errors="ignore").encode())
