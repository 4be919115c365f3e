"""Signals that a monitor listens to, for as long as it runs and in its own process only."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any

from mindtorch_v2.monitor.thread import ThisProcess, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class SignalHooks:
    """Calls a function with the name of each signal that comes.

    A handler that stays behind, in a forked child or because only the main thread may remove it, does what the program's own would do.
    """

    def __init__(self, signals: Iterable[signal.Signals], on_signal: Callable[[str], Any]) -> None:
        self._signals = tuple(signals)
        self._on_signal = on_signal
        self._process: int | None = None  # in which it listens
        self._installed: list[tuple[signal.Signals, Callable, Any]] = []

    def install(self) -> None:
        self._process = ThisProcess.number
        for number in self._signals:
            before = signal.getsignal(number)
            if before is None:
                tell(f"The monitor does not listen to {number.name}: it has a handler that is not written in Python")
                continue
            handler = self._handler(number, before)
            try:
                signal.signal(number, handler)
            except ValueError:
                names = ", ".join(each.name for each in self._signals)
                tell(f"The monitor does not listen to {names}: only the main thread may set handlers, and it was started in another")
                return
            self._installed.append((number, handler, before))

    def remove(self) -> None:
        self._process = None
        for number, handler, before in reversed(self._installed):
            if signal.getsignal(number) is handler:  # else the program has set another one meanwhile
                with contextlib.suppress(ValueError):  # not the main thread
                    signal.signal(number, before)
        self._installed.clear()

    def _handler(self, number: signal.Signals, before: Any) -> Callable[[int, Any], None]:
        def handle(signal_number: int, frame: Any) -> None:
            if self._process == ThisProcess.number:
                self._on_signal(number.name)
            elif callable(before):
                before(signal_number, frame)
            elif before is signal.SIG_DFL:
                signal.signal(signal_number, signal.SIG_DFL)
                signal.raise_signal(signal_number)

        return handle
