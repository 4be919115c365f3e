"""Every call of a Python or C function as an event of a trace (python_calls)."""

import sys
import threading

from mindtorch_v2._C import (
    _is_profiled,
    _join_python_calls,
    _monitor_python_calls,
    _profile_python_calls,
    _setprofile,
    _stop_python_calls,
)
from mindtorch_v2.base.warnings import warn


class PythonCalls:
    """Records calls on all threads, from start() to stop(): through sys.monitoring if this Python has it, else with a profile function.

    The profile functions that a program had set are set again afterwards. Those that it sets meanwhile are called beside ours.
    """

    def __init__(self):
        self._is_started = False
        self._replaced = None

    def start(self):
        self._is_started = True
        if _monitor_python_calls():
            return
        self._replaced = sys.getprofile(), threading.getprofile(), sys.setprofile
        threading.setprofile(_join_python_calls)
        sys.setprofile = _setprofile
        _profile_python_calls()

    def stop(self):
        if not self._is_started:
            return
        self._is_started = False
        if self._replaced is None:
            _stop_python_calls()
            return
        of_thread, of_new_threads, setprofile = self._replaced
        self._replaced = None
        if sys.setprofile is _setprofile:
            sys.setprofile = setprofile
        if not _is_profiled():
            warn(
                "Another profiler (cProfile, or a C extension) has taken the profile function of this thread: "
                "the calls after that moment are not recorded."
            )
        meanwhile = sys.getprofile(), threading.getprofile()  # what the program has set
        _stop_python_calls()
        threading.setprofile(of_new_threads if meanwhile[1] is _join_python_calls else meanwhile[1])
        setprofile(meanwhile[0] or of_thread)

    cleanup = stop
