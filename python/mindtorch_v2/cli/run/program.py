"""Starts the program of `mtprof run`, hands on the signals that mtprof gets, and ends as the program has ended."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_SI_KERNEL = 0x80  # si_code of a signal that the kernel sent: to all processes of the terminal's foreground group
_STOPS = {signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
_FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
_REQUESTS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
_POLL_S = 1.0
_REPEATS_S = 1.0


class Collecting(BaseException):
    """The program is over, and mtprof is asked to end while it collects the recordings."""


class Program:
    """The running program. From start() on this process gets no signal unless wait() takes it."""

    def __init__(self, process: subprocess.Popen):
        self.pid = process.pid
        self._process = process
        self._is_stopped = False
        self._is_to_stop = False  # this process was told to stop, and does so together with the program

    @classmethod
    def start(cls, command: list[str], environment: dict[str, str]) -> Program:
        """Throws OSError. The program has the signals as this process has found them."""
        ignores_children = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
        if ignores_children:  # the exit status would be lost
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        before = signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())

        def restore_signals():
            if ignores_children:
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

        try:
            return cls(subprocess.Popen(command, env=environment, preexec_fn=restore_signals))
        except BaseException:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            raise

    def wait(self, poll: Callable[[], None]) -> int:
        """The exit status, negative for a signal. `poll` is called about every second."""
        while True:
            received = signal.sigtimedwait(signal.valid_signals(), _POLL_S)
            if received is None:
                poll()
            elif received.si_signo != signal.SIGCHLD:
                self._hand_on(received)
            # A signal for an earlier state of the program may stand for this one too.
            if self._has_ended():
                return self._process.returncode
            if self._is_stopped and self._is_to_stop:
                self._is_to_stop = False
                os.kill(os.getpid(), signal.SIGSTOP)

    def _has_ended(self) -> bool:
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
            if pid == 0:
                return False
            if os.WIFEXITED(status) or os.WIFSIGNALED(status):
                self._process.returncode = os.waitstatus_to_exitcode(status)
                return True
            self._is_stopped = os.WIFSTOPPED(status)

    def _hand_on(self, received: signal.struct_siginfo) -> None:
        number = received.si_signo
        if number in _STOPS:
            self._is_to_stop = True
        elif number == signal.SIGCONT:
            self._is_to_stop = False
        if self._has_got(received):
            return
        with contextlib.suppress(OSError):  # it has ended, or belongs to another user
            os.kill(self.pid, number)

    def _has_got(self, received: signal.struct_siginfo) -> bool:
        """Whether the program has the signal already: from the terminal, or because it signals its own group."""
        if received.si_code == _SI_KERNEL:
            # When a terminal hangs up, the leader of its session alone is told.
            return received.si_signo != signal.SIGHUP or os.getsid(0) != os.getpid()
        return received.si_pid == self.pid


def begin_collecting() -> None:
    """The program is over. Requests to end that come now raise Collecting, and other signals are ignored.

    Those of the first second are ignored too: whoever ends a group of processes, or presses Ctrl-C twice, meant the program.
    """
    began = time.monotonic()

    def end(number, frame):
        if time.monotonic() > began + _REPEATS_S:
            raise Collecting

    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, *_FAULTS}:
        signal.signal(number, end if number in _REQUESTS else signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def leave_as(status: int) -> int:
    """Ends as the program did; a signal ends this process too."""
    if status >= 0:
        return status
    number = -status
    with contextlib.suppress(OSError, ValueError):  # a limit of one byte means no core file and no handler: the program's own is kept
        resource.setrlimit(resource.RLIMIT_CORE, (1, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - {number})
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    return 128 + number
