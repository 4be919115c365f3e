"""The times of the steps of a monitored program: what is usual, and which steps are slower than that."""

from __future__ import annotations

import statistics
from collections import deque

_KEPT = 256  # steps that tell what is usual
_FEWEST = 32  # before these, no step is called slow
_DEVIATIONS = 6.0


class StepTimes:
    """A step is slow if it takes longer than the median by `factor` and by six times the usual deviation.

    The deviation is the median of the absolute deviations from the median, scaled to a standard deviation. A few slow steps change
    neither of the two, so slow steps stay slow.
    """

    def __init__(self, factor: float = 1.5):
        self.factor = factor
        self.count = 0
        self.last: float | None = None
        self._recent: deque[float] = deque(maxlen=_KEPT)
        self._median = self._limit = float("inf")

    def add(self, seconds: float) -> bool:
        """Whether the step was slow, compared with those before it."""
        is_slow = len(self._recent) >= _FEWEST and seconds > self._limit
        self.count += 1
        self.last = seconds
        self._recent.append(seconds)
        if len(self._recent) <= _FEWEST or self.count % 16 == 0:  # medians need not be those of this very step
            self._survey()
        return is_slow

    def _survey(self) -> None:
        self._median = statistics.median(self._recent)
        deviation = 1.4826 * statistics.median(abs(seconds - self._median) for seconds in self._recent)
        self._limit = max(self.factor * self._median, self._median + _DEVIATIONS * deviation)

    @property
    def median(self) -> float | None:
        return self._median if self._recent else None
