"""monitor(): a flight recorder. It stays on for days, keeps the last steps in memory, and writes them when something happens."""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import queue
import re
import signal as signals_module
import socket
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindtorch_v2.profiler._config import _ExperimentalConfig
from mindtorch_v2.profiler._enums import ProfilerAction
from mindtorch_v2.profiler._monitor_cost import CostBound
from mindtorch_v2.profiler._monitor_socket import ControlSocket
from mindtorch_v2.profiler._monitor_steps import StepTimes
from mindtorch_v2.profiler._monitor_work import Work, work_of
from mindtorch_v2.profiler._warnings import warn
from mindtorch_v2.profiler.profiler import profile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_CALIBRATION_STEPS = 10
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_TIMES = {"ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600}


def parse_size(size: int | str) -> int:
    """Bytes of a number, or of a text such as "256MB"."""
    if isinstance(size, int):
        return size
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]?)i?b?\s*", size.lower())
    if match is None:
        raise ValueError(f'a size must be a number of bytes or a text such as "256MB", got {size!r}')
    return int(float(match[1]) * _UNITS[match[2]])


def parse_window(keep_last: int | str) -> dict[str, Any]:
    """The options of a recording that keeps so many steps (a number) or so much time (a text such as "60s")."""
    if isinstance(keep_last, int) and not isinstance(keep_last, bool):
        if keep_last < 1:
            raise ValueError(f"keep_last must be at least one step, got {keep_last}")
        return {"keep_last_steps": keep_last}
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)\s*", str(keep_last))
    if match is None or float(match[1]) == 0:
        raise ValueError(f'keep_last must be a number of steps or a time such as "60s", got {keep_last!r}')
    return {"keep_last_seconds": float(match[1]) * _TIMES[match[2]]}


def all_stacks() -> dict[str, list[str]]:
    """The Python stack of every thread, outermost call first."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        f"{names.get(ident, 'unknown')} ({ident})": [line.rstrip() for line in traceback.format_stack(frame)]
        for ident, frame in sys._current_frames().items()
    }


@dataclass
class Request:
    """A wish to write what was kept."""

    reason: str
    detail: str = ""
    after_steps: int = 0  # steps that are recorded before it is written
    output: str | None = None
    stacks: dict | None = None
    due_step: int = 0
    writes: bool = True  # False: the recording is only looked at
    done: threading.Event = field(default_factory=threading.Event)
    file: str | None = None
    error: str | None = None


class Monitor:
    """Use it as a block around the training loop, and call step() at the end of each step. See monitor() for the arguments."""

    def __init__(
        self,
        *,
        keep_last: int | str = "60s",
        max_memory: int | str = "256MB",
        folder: str | os.PathLike = ".",
        on_trace_ready: Callable[[profile], Any] | None = None,
        max_cost: float = 0.015,
        slow_steps: bool | float = True,
        hang_after: float | None = None,
        signals: Iterable[int] = (),
        control: bool = True,
        handlers: Iterable[Callable[[dict], Any]] = (),
        metrics_every: float = 10.0,
        pause: float = 60.0,
        clock: Callable[[], float] = time.perf_counter,
        **options: Any,
    ) -> None:
        self._window = parse_window(keep_last)
        self._max_memory = parse_size(max_memory)
        self._folder = Path(folder)
        self._on_trace_ready = on_trace_ready
        self._options = options
        self._hang_after = hang_after
        self._signals = tuple(signals)
        self._wants_control = control
        self._handlers = tuple(handlers)
        self._metrics_every = metrics_every
        self._pause = pause
        self._clock = clock
        self._finds_slow_steps = bool(slow_steps)
        self.times = StepTimes(1.5 if slow_steps is True or not slow_steps else float(slow_steps))
        self.cost = CostBound(max_cost, options)
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()  # put() may be called in signal handlers
        self._waiting: list[Request] = []
        self._prof: profile | None = None
        self._control: ControlSocket | None = None
        self._thread: threading.Thread | None = None
        self._step = 0
        self._step_began = 0
        self._is_reading = False  # what is kept
        self._last_slow = -math.inf
        self._is_hung = False
        self._files: list[str] = []
        self._lost = 0
        self._work = Work()
        self._restore: list[Callable[[], Any]] = []

    # --- The life of a monitor ---

    def start(self) -> Monitor:
        if self._prof is not None:
            raise RuntimeError("the monitor is already running")
        self._folder.mkdir(parents=True, exist_ok=True)
        self.cost.measure()
        self._prof = self._new_profile()
        self._prof.start()
        self._step_began = self._clock()
        if self._wants_control:
            self._control = ControlSocket(self._answer)
        self._install_hooks()
        self._thread = threading.Thread(target=self._watch, name="mindtorch monitor", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Ends recording. What was asked for and not yet written is written first."""
        if self._prof is None:
            return
        for restore in reversed(self._restore):
            restore()
        self._restore.clear()
        if self._control is not None:
            self._control.close()
        self._requests.put(None)
        self._thread.join()
        self._prof.stop()
        self._prof = None

    def __enter__(self) -> Monitor:
        return self.start()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> None:
        if error is not None and not isinstance(error, GeneratorExit):
            self.trigger("exception", detail="".join(traceback.format_exception(kind, error, trace)), wait=True)
        self.stop()

    def _new_profile(self) -> profile:
        config = _ExperimentalConfig(budget_bytes=self._max_memory, **self._window)
        return profile(schedule=lambda step: ProfilerAction.RECORD, experimental_config=config, **self._options)

    def _install_hooks(self) -> None:
        for number in self._signals:
            name = signals_module.Signals(number).name
            before = signals_module.signal(number, lambda *_, name=name: self.trigger("signal", detail=name))
            self._restore.append(lambda number=number, before=before: signals_module.signal(number, before))

    # --- What the program calls ---

    def step(self) -> None:
        """The present step has ended and the next one begins. Never waits for a file that is being written."""
        now = self._clock()
        seconds, self._step_began = now - self._step_began, now
        self._step += 1
        self._is_hung = False
        is_slow = self.times.add(seconds)
        self._advance()
        if is_slow and self._finds_slow_steps and now - self._last_slow >= self._pause:
            self._last_slow = now
            detail = f"step {self._step - 1} took {seconds:.6f} s, the median is {self.times.median:.6f} s"
            self.trigger("slow step", detail=detail)
        self.cost.add_own_time(self._clock() - now)

    def _advance(self) -> None:
        # Before the step, so that the scope of the step is recorded if its ops are. It would wait while what is kept is being read.
        if self.cost.skips(self._step) != self.cost.is_off and not self._is_reading:
            self.cost.is_off = not self.cost.is_off
            self._prof.toggle_collection_dynamic(not self.cost.is_off, self._prof.activities)
        self._prof.step()

    def trigger(
        self, reason: str = "call", *, steps: int = 0, output: str | os.PathLike | None = None, detail: str = "", wait: bool = False
    ) -> Request:
        """Writes what is kept, after `steps` more steps. With `wait`, returns once the file is there; `file` of the result names it."""
        if self._prof is None:
            raise RuntimeError("the monitor is not running")
        if steps < 0:
            raise ValueError(f"steps must not be negative, got {steps}")
        request = Request(reason, detail, steps, None if output is None else os.fspath(output), due_step=self._step + steps)
        self._requests.put(request)
        if wait:
            request.done.wait()
        return request

    def metrics(self) -> dict[str, Any]:
        """What is known about the program and about the monitor now, as numbers."""
        median = self.times.median
        return {
            "steps": self.times.count,
            "step_seconds": self.times.last,
            "step_seconds_median": median,
            "steps_per_second": 1 / median if median else None,
            "ops_per_second": self.cost.events_per_step / median if median and self.cost.events_per_step else None,
            "device_busy_share": self._work.device_busy_share,
            "collective_seconds": self._work.collective_seconds,
            "resident_bytes": _resident_bytes(),
            "monitor_cost_share": self.cost.share(median),
            "monitor_cost_limit": self.cost.limit,
            "recorded_steps_share": 1 / self.cost.every,
            "lost_events": self._lost,
            "files_written": len(self._files),
        }

    # --- The thread of the monitor ---

    def _watch(self) -> None:
        next_metrics = self._clock() + self._metrics_every
        while True:
            try:
                request = self._requests.get(timeout=0.2)
            except queue.Empty:
                pass
            else:
                if request is None:
                    break
                self._waiting.append(request)
            self._look_for_hang()
            self._serve_requests(is_last=False)
            self._calibrate()
            if self._handlers and self._clock() >= next_metrics:
                next_metrics = self._clock() + self._metrics_every
                self._publish()
        self._serve_requests(is_last=True)
        self._publish()

    def _serve_requests(self, is_last: bool) -> None:
        due = [request for request in self._waiting if is_last or request.stacks or self._step >= request.due_step]
        self._waiting = [request for request in self._waiting if request not in due]
        for request in due:
            try:
                self._write(request)
            except Exception as error:
                request.error = f"{type(error).__name__}: {error}"
                warn(f"The monitor could not write a file ({request.reason}): {request.error}")
            request.done.set()
        if due:
            _give_memory_back()

    def _look_for_hang(self) -> None:
        if self._hang_after is None or self._is_hung or self._step == 0:
            return
        if self._clock() - self._step_began >= self._hang_after:
            self._is_hung = True
            detail = f"no step ended for {self._hang_after:g} s"
            self._waiting.append(Request("hang", detail, stacks=all_stacks()))

    def _calibrate(self) -> None:
        """Early in a run, learns how many events a step has."""
        if self.cost.events_per_step is None and self._step >= _CALIBRATION_STEPS:
            self._read()
        self._bound_cost()

    def _bound_cost(self) -> None:
        if self.cost.adjust(self.times.median):
            warn(self.cost.text())

    def _read(self) -> profile:
        """What is kept now; the program goes on, and so does the recording."""
        kept = self._new_profile()
        self._is_reading = True
        try:
            kept._keep_snapshot_of(self._prof)
        finally:
            self._is_reading = False
        self._lost = sum(loss.count for loss in kept.losses() if loss.reason not in ("overwritten", "unfinished"))
        work = work_of(kept, self.times.median)
        if work.steps > 0:
            self._work = work
            self.cost.learn(kept.overhead().events, work.steps)
            self._bound_cost()
        return kept

    def _write(self, request: Request) -> None:
        at_step = self._step
        recording = self._read()
        if not request.writes:
            return
        about = {"reason": request.reason, "detail": request.detail, "step": at_step, "metrics": self.metrics()}
        if request.stacks:
            about["stacks"] = request.stacks
        recording.add_metadata_json("monitor", json.dumps(about))
        if self._on_trace_ready is not None:
            self._on_trace_ready(recording)
            return
        request.file = request.output or str(self._folder / self._file_name(request))
        recording.export_trace(request.file)
        if request.stacks:
            Path(request.file + ".stacks.txt").write_text(_stacks_text(request.stacks))
        self._files.append(request.file)

    def _file_name(self, request: Request) -> str:
        rank = os.environ.get("RANK", "")
        who = f"rank{rank}" if rank.isdigit() else f"{socket.gethostname()}_{os.getpid()}"
        return f"{who}.step{self._step}.{request.reason.replace(' ', '_')}.{time.time_ns()}.mtrec"

    def _publish(self) -> None:
        metrics = self.metrics()
        for handler in self._handlers:
            try:
                handler(metrics)
            except Exception as error:
                warn(f"A handler of the monitor's metrics failed: {type(error).__name__}: {error}")

    # --- The control socket ---

    def _answer(self, request: dict) -> dict:
        command = request.get("command")
        if command == "refresh":
            refreshed = Request("refresh", due_step=self._step, writes=False)
            self._requests.put(refreshed)
            refreshed.done.wait(50)
        if command in ("status", "refresh"):
            return {"pid": os.getpid(), "metrics": self.metrics(), "files": self._files[-10:], "work": asdict(self._work)}
        if command == "trigger":
            asked = self.trigger("trigger", steps=int(request.get("steps", 0)), output=request.get("output"))
            if not asked.done.wait(float(request.get("timeout", 50))):
                return {"pid": os.getpid(), "pending": True}
            return (
                {"error": asked.error} if asked.error else {"pid": os.getpid(), "file": os.path.abspath(asked.file) if asked.file else None}
            )
        raise ValueError(f"the commands are 'status', 'refresh' and 'trigger', got {command!r}")


def _resident_bytes() -> int | None:
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _give_memory_back() -> None:
    """Reading what is kept needs memory for a moment, which the C library would hold for the next time."""
    with contextlib.suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


def _stacks_text(stacks: dict[str, list[str]]) -> str:
    return "\n\n".join("\n".join([f"Thread {name}:", *lines]) for name, lines in stacks.items()) + "\n"


def monitor(**arguments: Any) -> Monitor:
    """A flight recorder for a training loop.

        with monitor(keep_last="60s", max_memory="256MB", folder="traces", hang_after=300) as mon:
            for batch in data:
                train(batch)
                mon.step()

    Args:
        keep_last: what is kept: a number of steps, or a time such as "60s".
        max_memory: most memory for it.
        folder: where files are written, each with the rank, the step and the reason in its name.
        on_trace_ready: called with the recording, as by profile(), instead of writing a file.
        max_cost: most of the time that recording may take, as a share. If it would take more, only every n-th step is recorded.
        slow_steps: whether a step that is slower than usual is written; a number is the factor above the median, by default 1.5.
        hang_after: seconds without a step after which everything is written, with the Python stacks of all threads.
        signals: signals on which everything is written.
        control: whether `mtprof trigger` and `mtprof live` of the same user may be used.
        handlers: called with metrics() every `metrics_every` seconds and at the end.
        pause: fewest seconds between two files about slow steps.

    Other arguments are those of profile(): record_shapes, profile_memory, with_stack, ...
    """
    return Monitor(**arguments)
