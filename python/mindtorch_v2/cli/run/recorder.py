"""The recording of one process of a program under `mtprof run`: its steps, and the file at its end.

Nothing here may change what the program does: a method that fails tells the launcher and ends the recording.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import statistics
import sys
import threading
import time
import weakref
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mindtorch_v2 import _C
from mindtorch_v2.base.distributed import rank_of_environment
from mindtorch_v2.base.enums import ProfilerAction
from mindtorch_v2.cli.run.folder import PARTIAL, Note, Process
from mindtorch_v2.cli.run.processors import ProcessorUse
from mindtorch_v2.cli.run.removed import open_removed
from mindtorch_v2.cli.run.slices import Slices
from mindtorch_v2.profiler._cost import Stretch, Work, cost_facts
from mindtorch_v2.profiler.profiler import profile, schedule

ENVIRONMENT = "MINDTORCH_RUN"  # the settings, as JSON
_HOOK = "_mindtorch_run_hook"
_MOST_STEPS_TOLD = 1000  # of whose duration and memory the recording tells


@dataclass(frozen=True)
class Settings:
    """What the command line of `mtprof run` asks for."""

    folder: str  # where processes put their recordings
    spare_folder: str = ""  # made and used if the program removes that one
    suffix: str = ".mtrec"
    launcher: dict[str, str | int] = field(default_factory=dict)  # a Process
    first_step: int | None = None  # None: everything is recorded
    warmup: int = 0
    active: int = 0
    slice_s: float = 1.0  # a step of a program without an optimizer
    shapes: bool = False
    memory: bool = False
    stack: bool = False
    modules: bool = False
    sampling_interval_ms: float = 0.0  # how often a sampler looks at all threads of Python; 0: never
    keep_last: int | None = None
    max_memory: int | None = None

    @classmethod
    def from_environment(cls) -> Settings:
        return cls(**json.loads(os.environ[ENVIRONMENT]))

    def to_environment(self) -> str:
        return json.dumps(asdict(self))


def tell(text: str) -> None:
    """Lets `mtprof run` say something."""
    if (hook := sys.modules.get(_HOOK)) is not None:
        hook.tell(text)


def _resident_bytes() -> int:
    """Of this process; 0 if the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError):
        return 0


def _float64_share(optimizer) -> float:
    """How many of the numbers that this optimizer trains are float64. 0 for an optimizer that is built otherwise than PyTorch's."""
    counts = {True: 0, False: 0}
    with contextlib.suppress(AttributeError, KeyError, TypeError):
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                counts[str(parameter.dtype).endswith("float64")] += parameter.numel()
    return counts[True] / max(1, sum(counts.values()))


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
            tell(f"the recording ends here: {type(error).__name__}: {error}")

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

    def __init__(self, settings: Settings):
        self.settings = settings
        self.ended = False
        self.prof = None
        self.distributed = None
        self.steps = Steps()
        self.own_seconds = 0.0  # in this class, at the ends of steps
        self.slices = None
        self.note = None
        self.resident_bytes: deque[int] = deque(maxlen=_MOST_STEPS_TOLD)  # at the ends of recorded steps
        self.float64_share = 0.0  # of the parameters
        self.processors = None
        self._home = Path(settings.folder)
        self._lock = threading.RLock()  # slices begin and end on a thread of their own

    @property
    def has_begun(self) -> bool:
        return self.note is not None

    @_harmless
    def begin(self) -> None:
        settings = self.settings
        if not Path(settings.folder).is_dir() and not Process(**settings.launcher).is_alive():
            self.ended = True  # the run is over, and its recordings are collected
            return
        self._home = self._folder()
        self.note = Note(Process.current(), time.time_ns(), rank_of_environment(), in_memory=settings.keep_last is not None)
        if settings.first_step is None:
            self._start(None)
        else:
            self._start(self._chosen_steps())
            self.slices = Slices(settings.first_step, settings.active, settings.slice_s, self._slices_begin, self._slices_end)
            self.slices.start()

    def _folder(self) -> Path:
        """Of this run, or the one that stands in for it if the program has removed that."""
        folder = Path(self.settings.folder)
        if not folder.is_dir() and self.settings.spare_folder:
            folder = Path(self.settings.spare_folder)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder

    @property
    def _spill_path(self) -> Path:
        return self._home / (self.note.stem + PARTIAL)

    @property
    def _path(self) -> Path:
        return self._home / (self.note.stem + self.settings.suffix)

    def _chosen_steps(self):
        settings = self.settings
        return schedule(wait=settings.first_step - settings.warmup, warmup=settings.warmup, active=settings.active, repeat=1)

    def _start(self, chosen) -> None:
        settings = self.settings
        self.prof = profile(
            schedule=chosen,
            on_trace_ready=self._cycle_is_over if chosen else None,
            record_shapes=settings.shapes,
            profile_memory=settings.memory,
            with_stack=settings.stack,
            with_modules=settings.modules,
            python_calls="off",
            budget_bytes=settings.max_memory,
            keep_last_steps=settings.keep_last,
            sampling_interval_ms=settings.sampling_interval_ms,
            spill_path=str(self._spill_path) if settings.keep_last is None else None,  # survives whatever ends the process
        )
        self._write_note()
        self.prof.start()
        self._watch_processors()
        self.steps.began = time.perf_counter()

    def _watch_processors(self) -> None:
        self.processors = ProcessorUse(Process(**self.settings.launcher).pid if self.settings.launcher else 0)

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
            self.note.events = None
            self._path.unlink(missing_ok=True)
            self._spill_path.unlink(missing_ok=True)
            self._start(self._chosen_steps())
        self.slices = None

    @_harmless
    def optimizer_has_stepped(self, optimizer) -> None:
        began = time.perf_counter()
        self._end_step(optimizer)
        self.own_seconds += time.perf_counter() - began

    def _end_step(self, optimizer) -> None:
        # Now, as the program may leave its process groups before it ends.
        self.distributed = self.prof._get_distributed_info() or self.distributed
        if self.ended or not self.steps.ends_with(optimizer):
            return
        if self.slices is not None:
            with self._lock:
                self._forget_slices()
        self.steps.end(was_recorded=self.prof.recording_now)
        if self.prof.recording_now:
            self.resident_bytes.append(_resident_bytes())
        if self.steps.count == 2:
            self.float64_share = _float64_share(optimizer)
        if self.steps.count == 1:
            self._watch_processors()  # the start of the program is not judged
            self._write_note()  # this process trains: that is known even if it is killed
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

    @_harmless
    def leave(self, function: str) -> None:
        """The program calls a function that ends the process without more ado. Open scopes have no end then, but nothing else is lost."""
        if self.prof is None or not self.prof.running:
            return
        if self.settings.keep_last is not None:
            self.finish()
        elif _C.flush_recording():
            self.note.left = function
            self._write_note()

    def _stop_and_write(self) -> None:
        self.prof.on_trace_ready = None  # the recording is written here, with what is known only now
        was_recording = self.prof.recording_now
        open_step = self.prof.step_num if was_recording and self.prof.record_steps else None
        self._add_processors()
        removed = None if self._spill_path.exists() else open_removed(self._spill_path)
        self.prof.stop()
        if not was_recording:
            self._write_note()
        elif removed is None:
            self._write(open_step)
        else:
            self._save(removed)

    def _add_processors(self) -> None:
        for key, value in (self.processors.metadata() if self.processors is not None else {}).items():
            self.prof.add_metadata_json(key, value)
        self.processors = None

    def _save(self, removed) -> None:
        """The program has removed the folder, or moved it. The recording is taken from the file that is still open."""
        path = self._folder() / self._spill_path.name
        with removed, open(path, "wb") as file:
            shutil.copyfileobj(removed, file)
        self._write_note()

    def _write(self, open_step: int | None) -> None:
        self._add_processors()
        if open_step is not None:
            self.prof.add_metadata_json("open_step", str(open_step))
        if self.distributed is not None:
            self.prof.add_metadata_json("distributedInfo", json.dumps(self.distributed))
        self.prof.add_metadata_json("mtprof_run", json.dumps(self._facts()))
        self.prof.add_metadata_json("resident_bytes", json.dumps(list(self.resident_bytes)))
        self.prof.add_metadata_json("float64_share", json.dumps(self.float64_share))
        self.prof.export_trace(self._folder() / self._path.name)
        self.note.events = self.prof.recording().event_count
        self._write_note()
        self._spill_path.unlink(missing_ok=True)

    def _facts(self) -> dict:
        overhead = self.prof.overhead()
        return {
            "command": [sys.executable, *sys.argv],
            "steps": self.steps.count,
            "step_source": "optimizer" if self.steps.count else "slices" if self.slices is not None and self.slices.has_begun else "none",
            "start_ns": overhead.prepare_ns + overhead.start_ns,
            "stop_ns": overhead.stop_ns,
            "recorded_step_s": self.steps.durations[True][-_MOST_STEPS_TOLD:],
            "unrecorded_step_s": self.steps.durations[False][-_MOST_STEPS_TOLD:],
            **self._cost_facts(),
        }

    def _cost_facts(self) -> dict:
        """What recording has cost; nothing if that cannot be told."""
        if self.prof.running:
            return {}
        recorded, plain = self.steps.durations[True], self.steps.durations[False]
        with contextlib.suppress(Exception):
            work = Work.of(self.prof, self.settings.modules)
            if recorded:
                typical = statistics.fmean(recorded)
                stretch = Stretch(work / (len(recorded) + 1), 1e9 * typical, 1e9 * self.own_seconds / max(1, self.steps.count))
            else:
                stretch = Stretch(work, 1e9 * (time.perf_counter() - self.steps.began))
            return cost_facts(stretch, self.settings, recorded, plain)
        return {}

    def _write_note(self) -> None:
        """What whoever collects the recording needs in order to name it. A note that cannot be written does not end the recording."""
        self.note.steps = self.steps.count
        self.note.waits_for_step = self.settings.first_step if self.prof.get_trace_id() is None else None
        if self.distributed:
            self.note.rank = self.distributed["rank"]
        with contextlib.suppress(OSError):
            self.note.write(self._folder())
