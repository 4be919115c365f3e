"""The daemon of a fleet (dynolog): asks it every second whether somebody wants a trace of this process, as `dyno gputrace` does.

The protocol is that of Kineto's client. Both sides have a Unix socket for datagrams; a message is a header (size and type) and its content.
The client says once who it is ("ctxt"), and asks again and again ("req"); the answer is a text of settings, or empty.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from mindtorch_v2.monitor.thread import ThisProcess, tell

if TYPE_CHECKING:
    from collections.abc import Callable

_ASK_EVERY_S = 1.0
_ANSWER_S = 2.0  # how long the daemon may take to answer; a wish that comes later is lost
_HEADER = struct.Struct("@N32s")
_CONTEXT = struct.Struct("@iiq")  # GPU, process, job
_QUESTION = struct.Struct("@iiq")  # what is asked for, number of processes, job; the processes follow
_ACTIVITIES = 2  # of what may be asked for
_LARGEST = 1 << 16
_MOST_ANCESTORS = 10

# Settings of a trace, and the options of profile() that they are.
_OPTIONS = {
    "PROFILE_REPORT_INPUT_SHAPES": "record_shapes",
    "PROFILE_PROFILE_MEMORY": "profile_memory",
    "PROFILE_WITH_STACK": "with_stack",
    "PROFILE_WITH_FLOPS": "with_flops",
    "PROFILE_WITH_MODULES": "with_modules",
}


@dataclass(frozen=True)
class Wish:
    """A trace that somebody wants: when it begins and ends, and where it is written."""

    path: str
    starts_at: float = 0.0  # seconds since 1970
    seconds: float = 0.5
    steps: int = 0  # 0: the trace ends by time
    first_step: int = 0
    round_up: int = 1  # the trace begins with a step whose number is a multiple of this
    options: dict[str, bool] = field(default_factory=dict)

    def begins_with(self, step: int) -> int:
        """The step that the trace begins with, if `step` is running now."""
        return max(self.first_step, (step // self.round_up + 1) * self.round_up)


def parse_wish(text: str) -> Wish:
    """The wish of a text of settings, one in each line. ValueError if it cannot be served; settings that are unknown have no effect."""
    settings = dict(_setting(line) for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))

    def number(name: str, usual: int, least: int = 0) -> int:
        value = settings.get(name, "")
        try:
            found = int(value) if value else usual
        except ValueError:
            raise ValueError(f"{name} must be a whole number, got {value!r}") from None
        if found < least:
            raise ValueError(f"{name} must be at least {least}, got {found}")
        return found

    by_steps = number("PROFILE_START_ITERATION", -1, -1) >= 0 or "PROFILE_START_ITERATION_ROUNDUP" in settings
    return Wish(
        path=_path_of_process(settings.get("ACTIVITIES_LOG_FILE", "")),
        starts_at=number("PROFILE_START_TIME", 0) / 1000,
        seconds=number("ACTIVITIES_DURATION_MSECS", 500, 1) / 1000,
        steps=number("ACTIVITIES_ITERATIONS", 1, 1) if by_steps else 0,
        first_step=max(number("PROFILE_START_ITERATION", 0, -1), 0),
        round_up=number("PROFILE_START_ITERATION_ROUNDUP", 1, 1),
        options={option: settings.get(name, "").lower() in ("true", "1", "yes") for name, option in _OPTIONS.items()},
    )


def _setting(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=")
    return name.strip(), value.strip()


def _path_of_process(path: str) -> str:
    """With the process in its name, as `dyno` tells its user. Any user of the machine may answer in the daemon's place, so that traces go
    to one folder only."""
    folder = os.path.join(os.environ.get("KINETO_ONDEMAND_TRACE_DIR") or "/tmp", "")
    path = path or f"{folder}trace.json"
    if not path.startswith(folder) or ".." in path:
        raise ValueError(f"ACTIVITIES_LOG_FILE must be in {folder} (KINETO_ONDEMAND_TRACE_DIR names another folder), got {path!r}")
    stem, suffix, rest = path.rpartition(".json")
    return f"{stem}_{os.getpid()}{suffix}{rest}" if suffix else f"{path}_{os.getpid()}.json"


def _ancestors() -> list[int]:
    """This process and those above it, by any of which it may be asked for."""
    processes = [os.getpid()]
    with contextlib.suppress(OSError, ValueError, IndexError):
        while processes[-1] > 1 and len(processes) < _MOST_ANCESTORS:
            with open(f"/proc/{processes[-1]}/stat") as file:
                processes.append(int(file.read().rpartition(")")[2].split()[1]))
    return [process for process in processes if process > 0]


def _gpu() -> int:
    rank = os.environ.get("LOCAL_RANK", "")
    return int(rank) if rank.isdigit() else 0


def _address(name: str) -> str:
    folder = os.environ.get("KINETO_IPC_SOCKET_DIR")
    return os.path.join(folder, name) if folder else f"\0{name}\0"


class Link:
    """Talks to the daemon. No descriptor stays open between two questions, so that a program may close all of them."""

    def __init__(self, endpoint: str = "dynolog"):
        self._endpoint = _address(endpoint)
        job = os.environ.get("SLURM_JOB_ID", "")
        self._job = int(job) if job.isdigit() else 0
        self._is_registered = False

    def ask(self) -> str:
        """The settings of a trace that somebody wants; empty if nobody does, or if no daemon answers."""
        try:
            if not self._is_registered:
                self._exchange(b"ctxt", _CONTEXT.pack(_gpu(), os.getpid(), self._job))
                self._is_registered = True
            processes = _ancestors()
            question = _QUESTION.pack(_ACTIVITIES, len(processes), self._job) + struct.pack(f"@{len(processes)}i", *processes)
            return self._exchange(b"req", question).decode("utf-8", "replace").strip("\0 \n")
        except OSError:
            self._is_registered = False  # the daemon is not there yet, or is another one when it is back
            return ""

    def _exchange(self, kind: bytes, content: bytes) -> bytes:
        own = _address(f"mt{os.getpid()}_{os.urandom(4).hex()}")  # short, because the system takes paths of 107 bytes
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
            ours.bind(own)
            try:
                ours.settimeout(_ANSWER_S)
                ours.sendto(_HEADER.pack(len(content), kind) + content, self._endpoint)
                answer = ours.recv(_LARGEST)
            finally:
                if not own.startswith("\0"):
                    os.unlink(own)
        if len(answer) < _HEADER.size:
            return b""
        size, answered = _HEADER.unpack_from(answer)
        return answer[_HEADER.size :][:size] if answered.rstrip(b"\0") == kind else b""


class Recorder(Protocol):
    """Who records for the daemon."""

    def begin(self, wish: Wish) -> None: ...

    def step(self) -> None:
        """A step of the program begins while the trace is recorded."""

    def end(self, wish: Wish) -> None:
        """Writes the trace."""


class Daemon:
    """Asks the daemon and has its wishes served, one at a time. Nothing here may disturb the program: what goes wrong is a warning.

    Args:
        recorder: records.
        ask: a Link's.
        now: seconds since 1970.
    """

    def __init__(self, recorder: Recorder, ask: Callable[[], str] | None = None, now: Callable[[], float] = time.time):
        self._recorder, self._ask, self._now = recorder, ask or Link().ask, now
        self._lock = threading.RLock()  # a signal handler may stop the monitor anywhere
        self._wish: Wish | None = None
        self._is_recording = False
        self._step = 0
        self._begin_step = self._end_step = 0
        self._end_time = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mindtorch daemon", daemon=True)
        self._process = ThisProcess.number

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """A trace that has begun is not written any more: its recorder ends. The thread ends when the daemon has answered, and is not
        waited for."""
        if self._process == ThisProcess.number:  # a forked child has no thread, and perhaps a lock that nobody opens
            with self._lock:
                self._over.set()

    def stepped(self, step: int) -> None:
        """Step number `step` of the program begins."""
        self._step = step
        wish = self._wish
        if wish is None:
            return
        with self._lock:  # the thread of the daemon may end the trace right now
            if self._wish is not wish or self._over.is_set():
                return
            if self._is_recording:
                self._recorder.step()
            if not wish.steps:
                return
            if not self._is_recording and step >= self._begin_step:
                self._end_step = step + wish.steps
                self._begin()
            elif self._is_recording and step >= self._end_step:
                self._end()

    def turn(self) -> None:
        """Asks, and begins and ends traces by time."""
        text = self._ask()
        with self._lock:
            if self._over.is_set():
                return
            if text:
                self._accept(text)
            wish = self._wish
            if wish is None or wish.steps:
                return
            if not self._is_recording and self._now() >= wish.starts_at:
                self._begin()
                self._end_time = self._now() + wish.seconds  # beginning may take long
            elif self._is_recording and self._now() >= self._end_time:
                self._end()

    def _run(self) -> None:
        while not self._over.wait(self._pause()):
            try:
                self.turn()
            except Exception as error:
                tell(f"The daemon of the fleet could not be asked: {type(error).__name__}: {error}")

    def _pause(self) -> float:
        """Until the next question, or until a trace begins or ends."""
        wish = self._wish
        if wish is None or wish.steps:
            return _ASK_EVERY_S
        due = self._end_time if self._is_recording else wish.starts_at
        return min(max(due - self._now(), 0.0), _ASK_EVERY_S)

    def _accept(self, text: str) -> None:
        if self._is_recording:
            tell("The daemon asks for a trace while one is recorded: only the first one is written.")
            return
        try:
            self._wish = parse_wish(text)
        except ValueError as error:
            tell(f"The daemon asks for a trace that cannot be recorded: {error}")
            return
        self._begin_step = self._wish.begins_with(self._step)

    def _begin(self) -> None:
        try:
            self._recorder.begin(self._wish)
            self._is_recording = True
        except Exception as error:
            tell(f"The daemon asks for a trace, and it cannot be recorded: {error}")
            self._wish = None

    def _end(self) -> None:
        wish, self._wish, self._is_recording = self._wish, None, False
        try:
            self._recorder.end(wish)
        except Exception as error:
            tell(f"The trace that the daemon asked for could not be written: {error}")
