"""Lets torch's profilers start inside a session. Torch reports memory to one profiler for each thread."""

from types import SimpleNamespace


class NestedProfiler:
    """Replaces the functions that torch.profiler and torch.autograd.profiler_legacy call when they start and stop.

    The replacements of those for the start stay after a session: only a thread itself can give up the reports, and threads that ran ops
    during the session have them still.
    """

    def __init__(self, calls: SimpleNamespace):
        self._leave = calls.mindtorch_torch_leave_memory_reports
        self._retake = calls.mindtorch_torch_retake_memory_reports
        self._makes_way = False
        self._replaced = []

    def start(self) -> None:
        from torch.autograd import profiler, profiler_legacy

        self.stop()
        if not self._makes_way:
            for module, name in ((profiler, "_run_on_profiler_start"), (profiler_legacy, "_enable_profiler_legacy")):
                setattr(module, name, self._making_way_for(getattr(module, name)))
            self._makes_way = True
        for module, name in ((profiler, "_run_on_profiler_stop"), (profiler_legacy, "_disable_profiler_legacy")):
            own = getattr(module, name)
            self._replaced.append((module, name, own))
            setattr(module, name, self._going_on_after(own, profiler))

    def stop(self) -> None:
        while self._replaced:
            setattr(*self._replaced.pop())

    def _making_way_for(self, start):
        def leave_and_start(*arguments):
            self._leave()
            return start(*arguments)

        return leave_and_start

    def _going_on_after(self, stop, profiler):
        def stop_and_retake():
            result = stop()
            self._retake()
            # Compiled code looks here before it annotates anything; our session still records it.
            profiler._is_profiler_enabled = True
            return result

        return stop_and_retake
