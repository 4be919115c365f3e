"""Lets torch.profiler start inside a session. Torch reports the memory of devices to one profiler for each thread."""

import ctypes


class NestedProfiler:
    """Replaces the functions that torch.profiler calls when it starts and stops, while a session records."""

    def __init__(self, calls: ctypes.CDLL):
        self._leave = calls.mindtorch_torch_leave_device_memory
        self._retake = calls.mindtorch_torch_retake_device_memory
        self._replaced = None

    def start(self) -> None:
        from torch.autograd import profiler

        self.stop()
        start, stop = self._replaced = (profiler._run_on_profiler_start, profiler._run_on_profiler_stop)

        def run_on_profiler_start():
            self._leave()
            start()

        def run_on_profiler_stop():
            stop()
            self._retake()
            # Compiled code looks here before it annotates anything; our session still records it.
            profiler._is_profiler_enabled = True

        profiler._run_on_profiler_start, profiler._run_on_profiler_stop = run_on_profiler_start, run_on_profiler_stop

    def stop(self) -> None:
        if self._replaced is None:
            return
        from torch.autograd import profiler

        profiler._run_on_profiler_start, profiler._run_on_profiler_stop = self._replaced
        self._replaced = None
