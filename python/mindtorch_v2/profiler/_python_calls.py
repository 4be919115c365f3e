"""Every call of a Python or C function as an event of a trace (python_calls)."""

import sys
import threading

from mindtorch_v2._C import _join_python_calls, _monitor_python_calls, _profile_python_calls, _stop_python_calls


class PythonCalls:
    """Records calls on all threads, from start() to stop(): through sys.monitoring if this Python has it, else with a profile function.

    The profile functions that a program has set are set again afterwards.
    """

    def __init__(self):
        self._is_started = False
        self._replaced = None

    def start(self):
        self._is_started = True
        if _monitor_python_calls():
            return
        self._replaced = sys.getprofile(), threading.getprofile()
        threading.setprofile(_join_python_calls)
        _profile_python_calls()

    def stop(self):
        if not self._is_started:
            return
        self._is_started = False
        _stop_python_calls()
        if self._replaced is not None:
            of_thread, of_new_threads = self._replaced
            self._replaced = None
            threading.setprofile(of_new_threads)
            sys.setprofile(of_thread)

    cleanup = stop
