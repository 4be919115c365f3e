"""The recording of one process of a program under `mtprof run`: its steps, and the file at its end.

Nothing here may change what the program does: a method that fails tells it on standard error and ends the recording.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
import time
import weakref
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mindtorch_v2.profiler._config import _ExperimentalConfig
from mindtorch_v2.profiler._enums import ProfilerAction
from mindtorch_v2.profiler._run_cost import cost_per_event
from mindtorch_v2.profiler._run_slices import Slices
from mindtorch_v2.profiler.profiler import profile, schedule

if TYPE_CHECKING:
    from collections.abc import Callable

ENVIRONMENT = "MINDTORCH_RUN"  # the settings, as JSON


@dataclass(frozen=True)
class Settings:
    """What the command line of `mtprof run` asks for."""

    folder: str  # where processes put their recordings
    suffix: str = ".mtrec"
    launcher: int = 0  # process id
    first_step: int | None = None  # None: everything is recorded
    warmup: int = 0
    active: int = 0
    slice_s: float = 1.0  # a step of a program without an optimizer
    shapes: bool = False
    memory: bool = False
    stack: bool = False
    modules: bool = False
    keep_last: int | None = None
    max_memory: int | None = None

    @classmethod
    def from_environment(cls) -> Settings:
        return cls(**json.loads(os.environ[ENVIRONMENT]))

    def to_environment(self) -> str:
        return json.dumps(asdict(self))


def _harmless(method):
    """A method of the recorder whose failure ends the recording instead of reaching the program."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        if self.ended:
            return
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            self.ended = True
            print(f"mtprof: the recording of process {os.getpid()} ends here: {type(error).__name__}: {error}", file=sys.stderr)

    return call


@dataclass
class Steps:
    """Steps are counted by the optimizer that is used first. Other optimizers count only if that one is no longer used."""

    count: int = 0
    others: int = 0
    depth: int = 0
    optimizer: weakref.ref | None = None
    thread: int = 0
    began: float = 0.0
    durations: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})  # by whether they were recorded

    def ends_with(self, optimizer) -> bool:
        """Whether a step of this optimizer ends a step of the program."""
        current = self.optimizer() if self.optimizer is not None else None
        if current is None or self.others > 3:
            self.optimizer, self.thread = weakref.ref(optimizer), threading.get_ident()
        elif current is not optimizer or self.thread != threading.get_ident():
            self.others += 1
            return False
        self.others = 0
        return True

    def end(self, was_recorded: bool) -> None:
        now = time.perf_counter()
        if self.count > 0:  # the first one contains the start of the program
            self.durations[was_recorded].append(now - self.began)
        self.count, self.began = self.count + 1, now


class Recorder:
    """Records one process."""

    def __init__(self, settings: Settings, begins_late: Callable[[], None]):
        """`begins_late` is called if the recording begins with a step of an optimizer: in a forked process."""
        self.settings = settings
        self._begins_late = begins_late
        self.ended = False
        self.prof = None
        self.distributed = None
        self.steps = Steps()
        self.slices = None
        self._lock = threading.RLock()  # slices begin and end on a thread of their own
        self._prepare_paths()

    def _prepare_paths(self) -> None:
        base = Path(self.settings.folder) / str(os.getpid())
        self.note_path = base.with_suffix(".json.note")
        self.spill_path = base.with_suffix(".partial.mtrec")
        self.path = base.with_name(base.name + self.settings.suffix)

    @_harmless
    def begin(self) -> None:
        settings = self.settings
        if settings.first_step is None:
            self._start(None)
        else:
            self._start(self._chosen_steps())
            self.slices = Slices(settings.first_step, settings.active, settings.slice_s, self._slices_begin, self._slices_end)
            self.slices.start()

    def _chosen_steps(self):
        settings = self.settings
        return schedule(wait=settings.first_step - settings.warmup, warmup=settings.warmup, active=settings.active, repeat=1)

    def _start(self, chosen) -> None:
        settings = self.settings
        config = _ExperimentalConfig(budget_bytes=settings.max_memory, keep_last_steps=settings.keep_last)
        if settings.keep_last is None:
            config.spill_path = str(self.spill_path)  # survives whatever ends the process
        self.prof = profile(
            schedule=chosen,
            on_trace_ready=self._cycle_is_over if chosen else None,
            record_shapes=settings.shapes,
            profile_memory=settings.memory,
            with_stack=settings.stack,
            python_calls=False,
            with_modules=settings.modules,
            experimental_config=config,
        )
        self._write_note()
        self.prof.start()
        self.steps.began = time.perf_counter()

    @_harmless
    def _slices_begin(self) -> None:
        with self._lock:
            if self.slices.is_over:
                return
            self.slices.has_begun = True
            if not self.prof.recording_now:
                self.prof.stop()  # it waits for steps
                self._start(None)

    @_harmless
    def _slices_end(self) -> None:
        with self._lock:
            if not self.slices.is_over:
                self._stop_and_write()

    def _forget_slices(self) -> None:
        """The program has an optimizer: its steps count."""
        self.slices.stop()
        if self.slices.has_begun:
            self.prof.on_trace_ready = None
            if self.prof.running:
                self.prof.stop()
            self.path.unlink(missing_ok=True)
            self.spill_path.unlink(missing_ok=True)
            self._start(self._chosen_steps())
        self.slices = None

    @_harmless
    def optimizer_has_stepped(self, optimizer) -> None:
        if self.prof is None:  # a forked process: it is recorded from its first step on
            self.begin()
            self._begins_late()
        # Now, as the program may leave its process groups before it ends.
        self.distributed = self.prof._get_distributed_info() or self.distributed
        if self.ended or not self.steps.ends_with(optimizer):
            return
        if self.slices is not None:
            with self._lock:
                self._forget_slices()
        self.steps.end(was_recorded=self.prof.recording_now)
        if self.settings.first_step is None and self.steps.count == 1:
            # The time up to the first step contains the start of the program: it is recorded, but it is not a step.
            self.prof.schedule = lambda step: ProfilerAction.RECORD
        self.prof.step()
        if self.ended:  # the steps that were asked for are written
            self.prof.on_trace_ready = None
            self.prof.stop()

    def _cycle_is_over(self, prof) -> None:
        self._write(open_step=None)
        self.ended = True

    @_harmless
    def finish(self) -> None:
        """The program ends."""
        if self.prof is None:
            return
        if self.slices is not None:
            self.slices.stop()
        with self._lock:
            if self.prof.running:  # slices that have ended are written
                self._stop_and_write()
        self.ended = True

    def _stop_and_write(self) -> None:
        self.prof.on_trace_ready = None  # the recording is written here, with what is known only now
        was_recording = self.prof.recording_now
        open_step = self.prof.step_num if was_recording and self.prof.record_steps else None
        self.prof.stop()
        if was_recording:
            self._write(open_step)
        else:
            self._write_note()

    def _write(self, open_step: int | None) -> None:
        if open_step is not None:
            self.prof.add_metadata_json("open_step", str(open_step))
        if self.distributed is not None:
            self.prof.add_metadata_json("distributedInfo", json.dumps(self.distributed))
        self.prof.add_metadata_json("mtprof_run", json.dumps(self._facts()))
        self.prof.export_trace(self.path)
        self._write_note()
        self.spill_path.unlink(missing_ok=True)

    def _facts(self) -> dict:
        overhead = self.prof.overhead()
        return {
            "command": [sys.executable, *sys.argv],
            "steps": self.steps.count,
            "step_source": "optimizer" if self.steps.count else "slices" if self.slices is not None and self.slices.has_begun else "none",
            "start_ns": overhead.prepare_ns + overhead.start_ns,
            "stop_ns": overhead.stop_ns,
            "ns_per_event": cost_per_event(self.settings) if not self.prof.running else None,
            "recorded_step_s": self.steps.durations[True][-1000:],
            "unrecorded_step_s": self.steps.durations[False][-1000:],
        }

    def _write_note(self) -> None:
        """What the launcher needs in order to name the file."""
        note = {
            "rank": self._rank(),
            "steps": self.steps.count,
            "is_first": os.getppid() == self.settings.launcher,
            "waits_for_step": self.settings.first_step if self.prof.get_trace_id() is None else None,
        }
        self.note_path.write_text(json.dumps(note))

    def _rank(self) -> int | None:
        rank = self.distributed["rank"] if self.distributed else os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK"))
        return None if rank is None else int(rank)
