"""monitor(): a flight recorder. It stays on for days, keeps the last steps in memory, and writes them when something happens."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import math
import os
import threading
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindtorch_v2 import _C
from mindtorch_v2.monitor import settings
from mindtorch_v2.monitor.daemon import Daemon
from mindtorch_v2.monitor.recording import KeptRecording
from mindtorch_v2.monitor.request import Request, all_stacks, file_name, plain_text, stacks_text
from mindtorch_v2.monitor.signals import SignalHooks
from mindtorch_v2.monitor.socket import Control
from mindtorch_v2.monitor.steps import StepTimes
from mindtorch_v2.monitor.thread import MonitorThread, ThisProcess, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mindtorch_v2.monitor.daemon import Wish
    from mindtorch_v2.profiler.recording import Recording


class Monitor:
    """Use it as a block around the training loop, and call step() at the end of each step. See monitor() for the arguments.

    The program comes first: wrong arguments are found here, and from then on nothing of the monitor keeps the program from starting, from
    running or from ending. What cannot be done is told in a warning.
    """

    def __init__(
        self,
        *,
        keep_last: int | str = "60s",
        max_memory: int | str = "256MB",
        folder: str | os.PathLike = ".",
        on_trace_ready: Callable[[Recording], Any] | None = None,
        max_cost: float = 0.015,
        slow_steps: bool | float = True,
        hang_after: float | str | None = None,
        signals: Iterable[int] = (),
        control: bool = True,
        daemon: bool = False,
        handlers: Iterable[Callable[[dict], Any]] = (),
        metrics_every: float | str = 10.0,
        pause: float | str = 60.0,
        clock: Callable[[], float] = time.perf_counter,
        **options: Any,
    ) -> None:
        self._folder = Path(settings.parse_folder(folder))
        self._on_trace_ready = None if on_trace_ready is None else settings.parse_function("on_trace_ready", on_trace_ready)
        self._hang_after = None if hang_after is None else settings.parse_seconds("hang_after", hang_after)
        self._signals = SignalHooks(settings.parse_signals(signals), lambda name: self.trigger("signal", detail=name))
        self._wants_control = bool(control)
        self._wants_daemon = bool(daemon)
        self._handlers = settings.parse_functions("handlers", handlers)
        self._metrics_every = settings.parse_seconds("metrics_every", metrics_every)
        self._pause = settings.parse_seconds("pause", pause)
        self._clock = settings.parse_clock(clock)
        factor = settings.parse_factor(slow_steps)
        self._finds_slow_steps = factor is not None
        self.times = StepTimes(factor or 1.5)
        self._recording = KeptRecording(settings.parse_window(keep_last), settings.parse_size(max_memory), max_cost, options)
        self.cost = self._recording.cost
        self._control: Control | None = None
        self._daemon: Daemon | None = None
        self._thread: MonitorThread | None = None
        self._is_running = False
        self._process = 0
        self._closes_itself = False
        self._step = 0
        self._step_began = 0.0
        self._stepper = 0  # the thread that calls step()
        self._next_metrics = 0.0
        self._last_slow = -math.inf
        self._is_hung = False
        self._files: list[str] = []

    # --- The life of a monitor ---

    def start(self) -> Monitor:
        if self._is_here():
            raise RuntimeError("the monitor is already running")
        if self._thread is not None:
            self._thread.end()  # it may still be ending, if a handler has stopped it
        self._thread = MonitorThread(self._write, self._is_due, self._turn, self._finish)
        self._process = ThisProcess.number
        self._is_running = True
        try:
            self._begin()
        except BaseException:  # the user has interrupted it
            self.stop()
            raise
        return self

    def _begin(self) -> None:
        self._without("a bound of its cost", self.cost.measure)
        self._without("a recording", self._recording.start)
        self._step_began = self._clock()
        self._stepper = threading.get_ident()
        self._next_metrics = self._step_began + self._metrics_every
        self._without("files and metrics", self._thread.start)
        if self._wants_control:
            self._without("`mtprof trigger` and `mtprof live`", self._open_control)
        if self._wants_daemon:
            self._without("the daemon of the fleet", self._ask_daemon)
        self._signals.install()

    def _open_control(self) -> None:
        self._control = Control(self._answer)

    def _ask_daemon(self) -> None:
        daemon = Daemon(_ForDaemon(self))
        daemon.start()
        self._daemon = daemon

    def _without(self, part: str, start: Callable[[], Any]) -> None:
        """A part that cannot be started is told, and the program goes on without it."""
        try:
            start()
        except Exception as error:
            tell(f"The monitor goes on without {part}: {error}")

    def stop(self) -> None:
        """Ends recording. What was asked for and not yet written is written first."""
        if not self._is_here():
            return
        self._is_running = False
        if self._daemon is not None:
            self._daemon.stop()
            self._daemon = None
        self._signals.remove()
        self._closes_itself = self._thread.is_caller()  # a handler has called this
        try:
            if not self._thread.end() and not self._closes_itself:
                tell("The monitor has not ended: a handler or a file takes too long. The program goes on without it.")
        finally:  # the user may interrupt the wait
            if not self._closes_itself:
                self._close()

    def _finish(self) -> None:
        """The last that the thread does."""
        self._publish()
        if self._closes_itself:
            self._close()

    def _close(self) -> None:
        control, self._control = self._control, None
        try:
            if control is not None:
                control.close()
            self._recording.stop()
        except Exception as error:
            tell(f"The monitor could not end its recording: {error}")

    def _is_here(self) -> bool:
        """It runs, and not in the parent of this process."""
        return self._is_running and self._process == ThisProcess.number

    def __enter__(self) -> Monitor:
        return self.start()

    def __exit__(self, kind: type | None, error: BaseException | None, trace: Any) -> None:
        try:
            if _is_failure(error) and self._is_here() and not self._thread.is_caller():
                self.trigger("exception", detail="".join(traceback.format_exception(kind, error, trace)), wait=True)
        except Exception as failure:  # the program's own exception is the one that leaves the block
            tell(f"The monitor could not write a file (exception): {failure}")
        finally:
            self.stop()

    # --- What the program calls ---

    def step(self) -> None:
        """The present step has ended and the next one begins. Never waits for a file that is being written.

        Does nothing after stop() and in forked children.
        """
        if not self._is_running:
            self._check_that_it_was_started()
            return
        if self._process != ThisProcess.number:  # as _is_here(), without its calls: this is in each step
            return
        now = self._clock()
        seconds, self._step_began = now - self._step_began, now
        self._step += 1
        self._stepper = threading.get_ident()
        self._is_hung = False
        is_slow = self.times.add(seconds)
        self._recording.step(self._step)
        if self._daemon is not None:
            self._daemon.stepped(self._step)
        if is_slow and self._finds_slow_steps and now - self._last_slow >= self._pause:
            self._last_slow = now
            detail = f"step {self._step - 1} took {seconds:.6f} s, the median is {self.times.median:.6f} s"
            self.trigger("slow step", detail=detail)
        self.cost.add_own_time(self._clock() - now)

    def trigger(
        self, reason: str = "call", *, steps: int = 0, output: str | os.PathLike | None = None, detail: str = "", wait: bool = False
    ) -> Request:
        """Writes what is kept, after `steps` more steps. With `wait`, returns once the file is there; `file` of the result names it.

        `error` of the result says why there is no file: it could not be written, the monitor has stopped meanwhile, or this is a forked
        child of the process with the monitor.
        """
        self._check_that_it_was_started()
        steps = settings.parse_steps(steps)
        if wait:
            self._check_that_waiting_can_end(steps)
        path = None if output is None else os.fsdecode(output)
        request = Request(plain_text(reason), plain_text(detail), path, due_step=self._step + steps)
        self._thread.submit(request)
        if wait and not self._thread.wait_for(request.done):
            request.error = "not written yet: the monitor is busy, or one of its handlers is stuck"
        return request

    def _check_that_it_was_started(self) -> None:
        if self._thread is None:
            raise RuntimeError("the monitor is not running: use it as a `with` block, or call start()")

    def _check_that_waiting_can_end(self, steps: int) -> None:
        if self._thread.is_caller():
            raise RuntimeError(
                "trigger(wait=True) would wait for itself: this is a handler of the monitor, which runs on the thread that writes files"
            )
        if steps > 0 and self._is_here() and self._stepper == threading.get_ident():
            raise RuntimeError(f"trigger(steps={steps}, wait=True) would wait for itself: this is the thread that calls step()")

    def metrics(self) -> dict[str, Any]:
        """What is known about the program and about the monitor now, as numbers."""
        median = self.times.median
        return {
            "steps": self.times.count,
            "step_seconds": self.times.last,
            "step_seconds_median": median,
            "steps_per_second": 1 / median if median else None,
            "ops_per_second": self.cost.events_per_step / median if median and self.cost.events_per_step else None,
            "device_busy_share": self._recording.work.device_busy_share,
            "collective_seconds": self._recording.work.collective_seconds,
            "resident_bytes": _resident_bytes(),
            "monitor_cost_share": self.cost.share(median),
            "monitor_cost_limit": self.cost.limit,
            "recorded_steps_share": 1 / self.cost.every,
            "lost_events": self._recording.lost,
            "files_written": len(self._files),
        }

    # --- The thread of the monitor ---

    def _is_due(self, request: Request) -> bool:
        return request.stacks is not None or self._step >= request.due_step

    def _turn(self) -> None:
        call = self._thread.call
        call("The monitor cannot look for hangs", self._look_for_hang)
        call("The monitor cannot tell what it costs", self._calibrate)
        call("The control socket of the monitor failed", self._look_at_control)
        if self._handlers and self._clock() >= self._next_metrics:
            self._next_metrics = self._clock() + self._metrics_every
            self._publish()

    def _look_for_hang(self) -> None:
        if self._hang_after is None or self._is_hung:
            return
        if self._clock() - self._step_began >= self._hang_after:
            self._is_hung = True
            detail = f"no step ended for {self._hang_after:g} s"
            self._thread.add(Request("hang", detail, stacks=all_stacks()))

    def _look_at_control(self) -> None:
        control = self._control
        if control is not None and control.is_lost():
            self._control = None
            control.close()
            tell("The program has closed the control socket of the monitor: `mtprof trigger` and `mtprof live` do not reach it any more.")

    def _calibrate(self) -> None:
        self._recording.calibrate(self._step, self.times.median)

    def _write(self, request: Request) -> None:
        try:
            self._write_recording(request)
        finally:
            _give_memory_back()

    def _write_recording(self, request: Request) -> None:
        at_step = self._step
        last_seconds = None if request.since is None else max(self._clock() - request.since, 1e-9)
        recording = self._recording.read(self.times.median, last_seconds)
        if not request.writes:
            return
        about = {"reason": request.reason, "detail": request.detail, "step": at_step, "metrics": self.metrics()}
        if request.stacks:
            about["stacks"] = request.stacks
        recording._add_metadata_json("monitor", json.dumps(about))
        if self._on_trace_ready is not None:
            self._on_trace_ready(recording)
            return
        path = request.output or self._new_path(request)
        _export(recording, path)
        request.file = path
        self._files.append(path)
        if request.stacks:
            _C.write_apart(os.fsencode(path + ".stacks.txt"), stacks_text(request.stacks).encode())

    def _new_path(self, request: Request) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        return str(self._folder / file_name(request.reason, self._step))

    def _publish(self) -> None:
        metrics = self.metrics()
        for handler in self._handlers:
            self._thread.call("A handler of the monitor's metrics failed", functools.partial(handler, metrics))

    # --- The control socket ---

    def _answer(self, request: dict, reply: Callable[[dict], None]) -> None:
        command = request.get("command")
        if command == "status":
            reply(self._status())
        elif command == "refresh":
            look = Request("refresh", due_step=self._step, writes=False, on_end=lambda _: reply(self._status()))
            self._thread.submit(look)
        elif command == "trigger":
            steps, output = settings.parse_steps(request.get("steps", 0)), request.get("output")
            if not isinstance(output, str | None):
                raise TypeError(f"output must be a path, got {output!r}")
            ends = functools.partial(_tell_end, reply)
            self._thread.submit(Request("trigger", output=output, due_step=self._step + steps, on_end=ends))
        else:
            raise ValueError(f"the commands are 'status', 'refresh' and 'trigger', got {command!r}")

    def _status(self) -> dict:
        return {"pid": os.getpid(), "metrics": self.metrics(), "files": self._files[-10:], "work": asdict(self._recording.work)}


class _ForDaemon:
    """Serves the wishes of the fleet's daemon from what the monitor keeps."""

    def __init__(self, monitor: Monitor):
        self._monitor = monitor
        self._began = 0.0

    def begin(self, wish: Wish) -> None:
        if missing := self._monitor._recording.lacks(wish.options):
            tell(f"The daemon asks for {', '.join(missing)}, which this monitor was not started with: the trace lacks that.")
        self._began = self._monitor._clock()

    def step(self) -> None:
        pass  # the monitor counts the steps of all that it keeps

    def end(self, wish: Wish) -> None:
        self._monitor._thread.submit(Request("daemon", output=wish.path, since=self._began))


def _export(recording: Recording, path: str) -> None:
    """Writes with descriptors that the program cannot close meanwhile, unless Python writes, or the file is one of the program's own."""
    recording._export(path, apart=not (path.endswith(".parquet") or path.startswith(("/dev/", "/proc/"))))


def _tell_end(reply: Callable[[dict], None], request: Request) -> None:
    if request.error is not None:
        reply({"error": request.error})
    else:
        reply({"pid": os.getpid(), "file": None if request.file is None else os.path.abspath(request.file)})


def _is_failure(error: BaseException | None) -> bool:
    """Whether the program failed. sys.exit(0) and the end of a generator are no failures."""
    if isinstance(error, SystemExit):
        return error.code not in (None, 0)
    return error is not None and not isinstance(error, GeneratorExit)


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
        on_trace_ready: called with the Recording instead of writing a file.
        max_cost: most of the time that recording may take, as a share. If it would take more, only every n-th step is recorded.
        slow_steps: whether a step that is slower than usual is written; a number is the factor above the median, by default 1.5.
        hang_after: how long without a step, in seconds or as a text such as "5m", after which everything is written, with the Python
            stacks of all threads.
        signals: signals on which everything is written.
        control: whether `mtprof trigger` and `mtprof live` of the same user may be used.
        daemon: whether dynolog's daemon is asked for wishes, so that `dyno gputrace` gets traces of this program.
        handlers: functions, called with metrics() every `metrics_every` (seconds, or "1m") and at the end, on the thread of the monitor.
        pause: shortest time between two files about slow steps.

    Other arguments are those of profile(): record_shapes, profile_memory, with_stack, ...
    """
    return Monitor(**arguments)
