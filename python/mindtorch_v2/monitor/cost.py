"""What a monitor costs the program, and the bound that the user has set for it."""

from __future__ import annotations

import math
import statistics
from collections import deque
from types import SimpleNamespace
from typing import Any

from mindtorch_v2.monitor.settings import parse_share
from mindtorch_v2.profiler._cost import Prices, Work, measure_prices


class CostBound:
    """What recording costs at prices that are measured when the monitor starts. If it exceeds the limit, steps are left out."""

    def __init__(self, limit: float, options: dict[str, Any]):
        self.limit = parse_share("max_cost", limit)
        self.every = 1  # so many steps, one is recorded
        self.is_off = False  # in the present step
        self.events_per_step: float | None = None
        self.ns_per_event: float | None = None
        self._options = options
        self.prices: Prices | None = None
        self._own_seconds: deque[float] = deque(maxlen=64)

    def measure(self) -> None:
        asked = {"shapes": "record_shapes", "memory": "profile_memory", "stack": "with_stack"}
        self.prices = measure_prices(SimpleNamespace(**{name: self._options.get(option, False) for name, option in asked.items()}))
        self.ns_per_event = self.prices.op if self.prices is not None else None

    def add_own_time(self, seconds: float) -> None:
        """The time that one call of step() took."""
        self._own_seconds.append(seconds)

    def skips(self, step: int) -> bool:
        return step % self.every != 0

    def learn(self, events: int, steps: int, work: Work | None = None) -> None:
        """From a recording that holds so many steps, and this work."""
        self.events_per_step = events / steps
        if work is not None and self.prices is not None and events:
            self.ns_per_event = self.prices.cost(work) / events

    def adjust(self, step_seconds: float | None) -> bool:
        """Decides how many steps are recorded from now on. Returns whether some are left out from now on and none were before."""
        if self.share(step_seconds) is None:
            return False
        room = max(self.limit - self._own_share(step_seconds), self.limit / 10)  # step() itself is called in every step
        before, self.every = self.every, max(1, math.ceil(self._event_share(step_seconds) / room))
        return self.every > before == 1

    def share(self, step_seconds: float | None) -> float | None:
        """Of the time of a step, as steps are recorded now; None before it is known."""
        if not step_seconds or self.events_per_step is None or self.ns_per_event is None:
            return None
        return self._event_share(step_seconds) / self.every + self._own_share(step_seconds)

    def _event_share(self, step_seconds: float) -> float:
        return self.events_per_step * self.ns_per_event * 1e-9 / step_seconds

    def _own_share(self, step_seconds: float) -> float:
        return statistics.median(self._own_seconds) / step_seconds if self._own_seconds else 0.0

    def text(self) -> str:
        return (
            f"Recording every step would take more than {100 * self.limit:g} % of the time ({self.events_per_step:.0f} events per step, "
            f"{self.ns_per_event:.0f} ns each): one step of {self.every} is recorded."
        )
