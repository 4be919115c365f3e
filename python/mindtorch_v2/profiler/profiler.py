"""torch.profiler's profile, schedule and handlers. The state machine behind them is C++ (mindtorch/profiler)."""

import os
import socket
import time
from abc import ABC, abstractmethod

from mindtorch_v2 import _C
from mindtorch_v2.profiler._enums import ProfilerAction
from mindtorch_v2.profiler._execution_trace import ExecutionTraceObserver
from mindtorch_v2.profiler._kineto_profile import _KinetoProfile
from mindtorch_v2.profiler._step_tracker import KinetoStepTracker
from mindtorch_v2.profiler._warnings import warn

__all__ = [
    "ExecutionTraceObserver",
    "ProfilerAction",
    "profile",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

PROFILER_STEP_NAME = "ProfilerStep"


def supported_activities():
    """What can be recorded on this machine now: CPU always, a device if somebody can watch it (see status())."""
    return _C.supported_activities()


class _ITraceObserver(ABC):
    """Somebody who wants to run exactly while a trace runs."""

    @abstractmethod
    def start(self):
        """Once a trace, before its first event."""

    @abstractmethod
    def stop(self):
        """Once a trace, after its last event."""

    @abstractmethod
    def cleanup(self):
        """When the profile's `with` block ends."""


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A callable that says which steps of a loop are recorded.

    Skip `skip_first` steps; then cycles of `wait` idle steps, `warmup` steps that prepare, and `active` recorded steps; `repeat`
    cycles, 0 for no end. With `skip_first_wait` the first cycle does without its `wait`.
    """
    return _C.Schedule(
        wait=wait,
        warmup=warmup,
        active=active,
        repeat=repeat,
        skip_first=skip_first,
        skip_first_wait=skip_first_wait,
    )


def _default_schedule_fn(_):
    """Records every step."""
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False, use_python_export=False):
    """An on_trace_ready that writes each cycle to "<dir_name>/<worker_name>.<Unix nanoseconds>.pt.trace.json", ".gz" if asked for.

    `worker_name` should differ between the processes of a job; by default it is "<host>_<pid>".
    """

    def handler_fn(prof):
        nonlocal worker_name
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        if not worker_name:
            worker_name = f"{socket.gethostname()}_{os.getpid()}"
        suffix = ".gz" if use_gzip else ""
        file_name = f"{worker_name}.{time.time_ns()}.pt.trace.json{suffix}"
        prof.export_chrome_trace(os.path.join(dir_name, file_name), use_python_export=use_python_export)

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
        activities=None,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        execution_trace_observer=None,
        acc_events=False,
        use_cuda=None,
        custom_trace_id_callback=None,
        post_processing_timeout_s=None,
    ):
        if use_cuda is not None:
            warn("`use_cuda` is deprecated, use `activities` argument instead", FutureWarning)
        self._schedule = schedule or None
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
        )

    def start(self):
        """Begins with the action of the present step; may be called again after stop(), the step number goes on."""
        _C.Profile.start(self)

    def stop(self):
        _C.Profile.stop(self)

    def step(self):
        """The next step begins."""
        _C.Profile.step(self)

    def get_trace_id(self):
        """The id of the present or last trace; None before the first."""
        return _C.Profile.get_trace_id(self)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.close()
        KinetoStepTracker.erase_step_count(PROFILER_STEP_NAME)

    @property
    def schedule(self):
        """Which steps are recorded; a new one counts from the next step on."""
        return self._schedule or _default_schedule_fn

    @schedule.setter
    def schedule(self, schedule):
        self._set_schedule(schedule)
        self._schedule = schedule

    def set_custom_trace_id_callback(self, callback):
        """From the next cycle on, its traces get the ids that `callback` returns."""
        self.custom_trace_id_callback = callback

    @property
    def action_map(self):
        """The calls made from one action to the next, None being the end."""
        steps = [action for action in ProfilerAction if action is not ProfilerAction.DEVICE_STOPPED]
        return {
            (previous, current): [getattr(self, call) for call in _C.transition_calls(previous, current)]
            for previous in steps
            for current in [*steps, None]
        }
