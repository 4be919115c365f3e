"""What a monitor keeps: a profile that records on and on, and what was learnt from it."""

from __future__ import annotations

from typing import Any

from mindtorch_v2._C import is_profiler_enabled
from mindtorch_v2.base.enums import ProfilerAction
from mindtorch_v2.monitor.cost import CostBound
from mindtorch_v2.monitor.thread import tell
from mindtorch_v2.monitor.work import Work, work_of
from mindtorch_v2.profiler._cost import Work as PricedWork
from mindtorch_v2.profiler._options import SAMPLING_INTERVAL_MS
from mindtorch_v2.profiler.profiler import profile
from mindtorch_v2.profiler.recording import Recording

_CALIBRATION_STEPS = 10


class KeptRecording:
    """Records from start() to stop(). Every error after that is told, and the program goes on without a recording.

    Args:
        window, max_memory: how much is kept.
        options: those of profile(); wrong ones are found here.
    """

    def __init__(self, window: dict[str, Any], max_memory: int, max_cost: float, options: dict[str, Any]) -> None:
        self._window, self._max_memory, self._options = window, max_memory, options
        self.cost = CostBound(max_cost, options)
        self.work = Work()
        self.lost = 0
        self._prof: profile | None = None
        self._is_reading = False
        self._next_calibration = _CALIBRATION_STEPS
        try:
            self._new_profile()
        except (TypeError, ValueError):
            raise
        except Exception as error:  # a warning, where warnings are errors
            tell(f"The monitor may not record everything: {error}")

    def _new_profile(self) -> profile:
        kept = {"budget_bytes": self._max_memory, **self._window}
        return profile(
            schedule=lambda step: ProfilerAction.RECORD, **{"sampling_interval_ms": SAMPLING_INTERVAL_MS, **self._options, **kept}
        )

    def lacks(self, options: dict[str, bool]) -> list[str]:
        """Which of these options of profile() are wanted, and not recorded."""
        return [name for name, wanted in options.items() if wanted and not self._options.get(name)]

    def start(self) -> None:
        if is_profiler_enabled():
            raise RuntimeError("another profile of the process is active, and goes on")
        prof = self._new_profile()
        prof.start()
        self._prof = prof

    def stop(self) -> None:
        prof, self._prof = self._prof, None
        if prof is not None and not self._is_reading:  # else the thread that reads is stuck
            prof.stop()

    def step(self, number: int) -> None:
        """Step `number` begins."""
        prof = self._prof
        if prof is None:
            return
        try:
            # Before the step, so that the scope of the step is recorded if its ops are. It would wait while what is kept is being read.
            if self.cost.skips(number) != self.cost.is_off and not self._is_reading:
                self.cost.is_off = not self.cost.is_off
                prof.toggle_collection_dynamic(not self.cost.is_off, prof.activities)
            prof.step()
        except Exception as error:
            self._prof = None
            tell(f"The monitor has stopped recording: {error}")

    def calibrate(self, step: int, step_seconds: float | None) -> None:
        """Early in a run, learns how many events a step has; later keeps the cost below its bound. `step_seconds` is what is usual."""
        if self._prof is not None and self.cost.events_per_step is None and step >= self._next_calibration:
            self._next_calibration = 2 * step  # if nothing can be learnt now
            self.read(step_seconds)
        self._bound_cost(step_seconds)

    def _bound_cost(self, step_seconds: float | None) -> None:
        if self.cost.adjust(step_seconds):
            tell(self.cost.text())

    def read(self, step_seconds: float | None, last_seconds: float | None = None) -> Recording:
        """What is kept now, or the last seconds of it; the program goes on, and so does the recording."""
        prof = self._prof
        if prof is None:
            raise RuntimeError("the monitor records nothing")
        self._is_reading = True
        try:
            recording = prof.snapshot(last_seconds=last_seconds)
        finally:
            self._is_reading = False
        self.lost = sum(loss.count for loss in recording.losses() if loss.reason not in ("overwritten", "unfinished"))
        work = work_of(recording, step_seconds)
        if work.steps > 0:
            self.work = work
            self.cost.learn(recording.event_count, work.steps, PricedWork.of(recording))
            self._bound_cost(step_seconds)
        return recording
