"""Slices of time, which stand for the steps of a program as long as no optimizer has made one."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Slices:
    """Calls `begin` when the first slice that was asked for begins, and `end` when the last one has ended, on a thread of its own."""

    def __init__(self, first: int, count: int, length_s: float, begin: Callable[[], None], end: Callable[[], None]):
        self.has_begun = False
        self._over = threading.Event()
        self._moments = ((first * length_s, begin), ((first + count) * length_s, end))

    def start(self) -> None:
        threading.Thread(target=self._run, name="mtprof slices", daemon=True).start()

    def stop(self) -> None:
        """Nothing is called any more, except what is being called at this moment."""
        self._over.set()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    def _run(self) -> None:
        began = time.monotonic()
        for moment, call in self._moments:
            if self._over.wait(min(max(0.0, began + moment - time.monotonic()), threading.TIMEOUT_MAX)):
                return
            call()
