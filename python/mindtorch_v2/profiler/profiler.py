"""torch.profiler's profile, schedule and handlers. The state machine behind them is C++ (mindtorch/profiler)."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mindtorch_v2 import _C
from mindtorch_v2.base.enums import ProfilerAction
from mindtorch_v2.base.enums import ProfilerActivity as ProfilerActivity
from mindtorch_v2.base.warnings import warn
from mindtorch_v2.profiler._activity_config import CuspyConfig, PerformanceMetricsConfig, ProfilerActivityConfig
from mindtorch_v2.profiler._config import _ExperimentalConfig as _ExperimentalConfig
from mindtorch_v2.profiler._execution_trace import ExecutionTraceObserver
from mindtorch_v2.profiler._kineto_profile import _KinetoProfile, _Replaceable, require_callable
from mindtorch_v2.profiler._options import whole_number
from mindtorch_v2.profiler._step_tracker import KinetoStepTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = [
    "CuspyConfig",
    "ExecutionTraceObserver",
    "PerformanceMetricsConfig",
    "ProfilerAction",
    "ProfilerActivityConfig",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

PROFILER_STEP_NAME = "ProfilerStep"
_ENDLESS = 1 << 48


def supported_activities() -> set[ProfilerActivity]:
    """The activities that can be recorded on this machine now: always CPU, and a device if a source can record it (see status())."""
    return _C.supported_activities()


def kineto_available() -> bool:
    """torch asks whether traces can be recorded at all; here they always can."""
    return True


class _ITraceObserver(ABC):
    """The interface of an observer that a profile starts and stops together with each trace."""

    @abstractmethod
    def start(self) -> None:
        """Called once per trace, before its first event."""

    @abstractmethod
    def stop(self) -> None:
        """Called once per trace, after its last event."""

    @abstractmethod
    def cleanup(self):
        """When the profile's `with` block ends."""


_ITraceObserver.register(ExecutionTraceObserver)


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A callable that says which steps of a loop are recorded.

    Skip `skip_first` steps; then cycles of `wait` idle steps, `warmup` steps that prepare, and `active` recorded steps; `repeat`
    cycles, 0 for no end. With `skip_first_wait` the first cycle does without its `wait`.
    """
    counts = {
        "wait": wait,
        "warmup": warmup,
        "active": active,
        "repeat": repeat,
        "skip_first": skip_first,
        "skip_first_wait": skip_first_wait,
    }
    return _C.Schedule(**{name: _steps(name, count) for name, count in counts.items()})


def _steps(name, count):
    """A number of steps as the schedule counts them: 1.0 is 1, and infinity is more than any program makes."""
    try:
        return whole_number(max(min(count, _ENDLESS), -_ENDLESS))
    except (TypeError, ValueError):
        raise TypeError(f"schedule: {name} must be a whole number of steps, got {count!r}") from None


def _default_schedule_fn(_):
    """Records every step."""
    return ProfilerAction.RECORD


def tensorboard_trace_handler(
    dir_name: str | os.PathLike, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[_KinetoProfile], None]:
    """An on_trace_ready that writes each cycle to "<dir_name>/<worker_name>.<Unix nanoseconds>.pt.trace.json", ".gz" if asked for.

    `worker_name` should differ between the processes of a job; by default it is "<host>_<pid>".
    """
    files = _C.TraceFiles(os.fsdecode(dir_name), str(worker_name or ""), bool(use_gzip))

    def handler_fn(prof):
        prof.export_chrome_trace(files.next_path(), use_python_export=use_python_export)

    return handler_fn


class profile(_KinetoProfile):
    """Records what a program does, from start() to stop() or in a `with` block, step by step if there is a schedule.

        with profile(record_shapes=True) as prof:
            train_step()
        print(prof.key_averages().table(sort_by="self_cpu_time_total"))

    Args:
        schedule: callable from the number of a step to its ProfilerAction, see schedule(). None: every step is recorded, and there
            are no "ProfilerStep#N" scopes.
        on_trace_ready: called with the profile when a cycle has been recorded, and at the end if it is still being recorded.
        use_cuda: deprecated, use `activities`.

    All other arguments are those of _KinetoProfile.
    """

    step_rec_fn = None  # steps are scopes of the C++ side

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity | str | dict[ProfilerActivity, Iterable[str]]] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
        execution_trace_observer: _ITraceObserver | None = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        **options: Any,
    ) -> None:
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
        self._schedule = schedule or None
        # torch's handlers may be several, of which it calls the first.
        require_callable("on_trace_ready", on_trace_ready[0] if isinstance(on_trace_ready, tuple) and on_trace_ready else on_trace_ready)
        self.on_trace_ready = on_trace_ready
        KinetoStepTracker.init_step_count(PROFILER_STEP_NAME)
        self._construct(
            self._schedule,
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer or ExecutionTraceObserver.build_execution_trace_obs_from_env(),
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
            ours=options,
        )

    def start(self) -> None:
        """Begins with the action of the present step; may be called again after stop(), the step number goes on."""
        _C.Profile.start(self)

    def stop(self) -> None:
        _C.Profile.stop(self)

    def step(self) -> None:
        """The next step begins."""
        _C.Profile.step(self)
        if os.environ.get("KINETO_USE_DAEMON"):
            KinetoStepTracker.increment_step(PROFILER_STEP_NAME)

    def get_trace_id(self) -> str | None:
        """The id of the present or last trace; None before the first."""
        return _C.Profile.get_trace_id(self)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        self.close()
        KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    @property
    def schedule(self) -> Callable[[int], ProfilerAction]:
        """Which steps are recorded; a new one counts from the next step on."""
        return self._schedule or _default_schedule_fn

    @schedule.setter
    def schedule(self, schedule: Callable[[int], ProfilerAction] | None) -> None:
        self._set_schedule(schedule)
        self._schedule = schedule

    @property
    def step_num(self) -> int:
        """The number of the present step. A program that counts steps itself sets it."""
        return _C.Profile.step_num.__get__(self)

    @step_num.setter
    def step_num(self, step: int) -> None:
        _C.Profile.step_num.__set__(self, int(step))

    def set_custom_trace_id_callback(self, callback: Callable[[], str] | None) -> None:
        """From the next cycle on, its traces get the ids that `callback` returns."""
        require_callable("custom_trace_id_callback", callback)
        self.custom_trace_id_callback = callback

    @_Replaceable
    def action_map(self) -> dict[tuple[ProfilerAction, ProfilerAction | None], list[Callable[[], None]]]:
        """The methods that are called between one action and the next. None stands for the end."""
        steps = [action for action in ProfilerAction if action is not ProfilerAction.DEVICE_STOPPED]
        return {
            (previous, current): [getattr(self, call) for call in _C.transition_calls(previous, current)]
            for previous in steps
            for current in [*steps, None]
        }
