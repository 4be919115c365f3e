"""The thread of a monitor. Nothing that is called on it can end it before its time, and no caller waits for it once it is gone."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from typing import TYPE_CHECKING

from mindtorch_v2.base.warnings import warn

if TYPE_CHECKING:
    from collections.abc import Callable

    from mindtorch_v2.monitor.request import Request

_TURN = 0.2  # seconds between two turns without a request
_LOOK = 0.1  # how often one who waits looks whether the thread is still there
_PATIENCE = 120.0  # seconds that one request or handler may take; callers do not wait longer


class ThisProcess:
    """The number of the process, which os.getpid() would ask the kernel for in each step."""

    number = os.getpid()


def _note_fork() -> None:
    ThisProcess.number = os.getpid()


os.register_at_fork(after_in_child=_note_fork)


def tell(text: str) -> None:
    """Warns, and never raises: not where warnings are errors, and not where a program has replaced how they are shown."""
    try:
        warn(text)
    except Exception:
        with contextlib.suppress(Exception):  # there is no other way to tell it
            sys.stderr.write(f"mindtorch: {text}\n")


class MonitorThread:
    """Serves requests one after the other, and takes a turn several times a second.

    Args:
        serve: called with a request that is due. What it raises is the request's error.
        is_due: whether a request is to be served now.
        turn: called between requests.
        finish: called last.
    """

    def __init__(
        self,
        serve: Callable[[Request], None],
        is_due: Callable[[Request], bool],
        turn: Callable[[], None],
        finish: Callable[[], None],
    ) -> None:
        self._serve, self._is_due, self._turn, self._finish = serve, is_due, turn, finish
        self._requests: list[Request] = []  # that have not ended; each stays until it has, whatever is raised meanwhile
        self._bell: queue.SimpleQueue[None] = queue.SimpleQueue()  # put() may be called in signal handlers
        self._told: set[str] = set()
        self._process = ThisProcess.number
        self._is_ending = False
        self._has_ended = False
        self._ended = threading.Event()
        self._busy_since: float | None = None
        self._thread = threading.Thread(target=self._run, name="mindtorch monitor", daemon=True)

    def start(self) -> None:
        try:
            self._thread.start()
        except BaseException:
            self._end()
            raise

    # --- For all threads ---

    def is_this_process(self) -> bool:
        """False in a child that was forked: the thread stayed in the parent."""
        return self._process == ThisProcess.number

    def is_caller(self) -> bool:
        return threading.current_thread() is self._thread

    def submit(self, request: Request) -> None:
        """The request will be served, or will end with an error."""
        if not self.is_this_process():
            request.end(f"the monitor runs in process {self._process}, and this is a child of it")
            return
        self.add(request)
        self._bell.put(None)
        if self._has_ended:  # asked after add(): either the thread has seen the request, or it is still here
            self._refuse_the_rest()

    def wait_for(self, done: threading.Event) -> bool:
        """Waits for an event that the thread sets. Returns whether it has: it is not waited for if it is gone, or stuck in a handler."""
        while not done.wait(_LOOK):
            if not self._thread.is_alive():
                self._end()
                return done.is_set()
            if self._busy_since is not None and time.monotonic() - self._busy_since > _PATIENCE:
                return False
        return True

    def end(self) -> bool:
        """Serves what was asked for and ends. Returns whether it has ended; False too if the caller is the thread itself."""
        if not self.is_this_process():
            return True
        self._is_ending = True
        self._bell.put(None)
        return not self.is_caller() and self.wait_for(self._ended)

    # --- On the thread ---

    def _run(self) -> None:
        try:
            while not self._is_ending and self.is_this_process():
                self._guard("A turn of the monitor failed", self._serve_and_turn)
            if self.is_this_process():
                for request in list(self._requests):
                    self._serve_one(request)
                self._guard("The end of the monitor failed", self._finish)
        finally:
            self._end()

    def _serve_and_turn(self) -> None:
        with contextlib.suppress(queue.Empty):
            self._bell.get(timeout=_TURN)
        self._turn()
        for request in list(self._requests):
            if self._is_due(request):
                self._serve_one(request)

    def add(self, request: Request) -> None:
        """A request that is served in this turn of the thread or a later one."""
        self._requests.append(request)

    def _serve_one(self, request: Request) -> None:
        if not request.done.is_set():  # it is if something was raised just before it was taken out
            error = self._guard(f"The monitor could not write a file ({request.reason})", lambda: self._serve(request), once=False)
            self._guard("A request could not be answered", lambda: request.end(error))
        with contextlib.suppress(ValueError):
            self._requests.remove(request)

    def call(self, what: str, function: Callable[[], object]) -> str | None:
        """Calls a function of the program; returns what it failed with."""
        return self._guard(what, function)

    def _guard(self, what: str, function: Callable[[], object], once: bool = True) -> str | None:
        """Whatever is raised, SystemExit and KeyboardInterrupt too, is told and does not end the thread."""
        before, self._busy_since = self._busy_since, time.monotonic()
        try:
            function()
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
            self._tell(f"{what}: {text}", once)
            return text
        finally:
            self._busy_since = before
        return None

    def _tell(self, text: str, once: bool) -> None:
        if once and text in self._told:
            return
        if len(self._told) < 100:
            self._told.add(text)
        tell(text)

    def _end(self) -> None:
        self._has_ended = True
        if self.is_this_process():
            self._refuse_the_rest()
        self._ended.set()

    def _refuse_the_rest(self) -> None:
        with contextlib.suppress(IndexError):  # several threads may do this at a time
            while True:
                self._requests.pop().end("the monitor has stopped")
