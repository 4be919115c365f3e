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
        inherited = _name_of(threading.main_thread())
        for thread in threading.enumerate():
            _tell(thread, inherited)
        set_native_id = threading.Thread._set_native_id

        def set_native_id_and_name(thread):  # a new thread calls this first
            set_native_id(thread)
            _tell(thread, _name_of(threading.main_thread()))

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


def _place(thread):
    return Path("/proc/self/task") / str(thread.native_id) / "comm"


def _name_of(thread):
    """What the system calls it; None if the thread has ended, or if the system is not Linux."""
    with contextlib.suppress(OSError):
        return _place(thread).read_bytes()
    return None


def _tell(thread, inherited):
    """`inherited` is the name of the main thread, which threads have until they are told another one."""
    if thread is threading.main_thread() or thread.native_id is None or _name_of(thread) != inherited:
        return
    with contextlib.suppress(OSError):
        _place(thread).write_bytes(thread.name.encode(errors="replace")[:_LONGEST].decode(errors="ignore").encode())
