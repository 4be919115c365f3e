"""take_over(): a program that asks torch.profiler for a profile gets ours, without a change of the program.

The modules of torch's profiler answer by who asks for a name: code of torch gets torch's own, because it works with torch's own objects;
everybody else gets ours.
"""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from mindtorch_v2.compat.on_demand import KINETO_USE_DAEMON, OnDemandProfiles, keep_kineto_away
from mindtorch_v2.profiler._kineto_profile import _KinetoProfile
from mindtorch_v2.torch_bridge.imports import after_import

ENVIRONMENT = "MINDTORCH_TAKE_OVER"  # its value: see options_of()

# record_function, KinetoStepTracker and _ExperimentalConfig stay torch's: our profiles record the first, count steps in the second and take
# the third.
_NAMES = {
    "torch.profiler": (
        "mindtorch_v2.profiler",
        "profile _KinetoProfile schedule tensorboard_trace_handler supported_activities ExecutionTraceObserver ProfilerAction "
        "ProfilerActivity DeviceType ProfilerActivityConfig PerformanceMetricsConfig CuspyConfig",
    ),
    "torch.profiler.profiler": (
        "mindtorch_v2.profiler.profiler",
        "profile _KinetoProfile schedule tensorboard_trace_handler supported_activities ExecutionTraceObserver ProfilerAction "
        "ProfilerActivity _default_schedule_fn _ITraceObserver ProfilerActivityConfig PerformanceMetricsConfig CuspyConfig",
    ),
    "torch.autograd.profiler": (
        "mindtorch_v2.autograd.profiler",
        "profile EventList FunctionEvent FunctionEventAvg MemRecordsAcc DeviceType",
    ),
    "torch.autograd.profiler_util": (
        "mindtorch_v2.autograd.profiler_util",
        "EventList FunctionEvent FunctionEventAvg FormattedTimesMixin Interval Kernel MemRecordsAcc StringTable",
    ),
}
_GET_THEIRS = ("torch", "mindtorch_v2")  # packages that see torch's own names

_handles: list[TakeOver] = []  # of calls that have not been undone
_given: dict[str, dict[str, object]] = {}  # by module of torch: names and what is given for them
_on_demand: OnDemandProfiles | None = None  # while a daemon is served
_rebound: list[tuple[dict, str, object, object]] = []  # names that modules had imported before: globals, name, torch's, ours


class _Taken(ModuleType):
    """A module of torch's profiler while it is taken over."""

    def __getattribute__(self, name):
        given = _given.get(ModuleType.__getattribute__(self, "__name__"), {})
        if name in given and sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] not in _GET_THEIRS:
            return given[name]
        return ModuleType.__getattribute__(self, name)

    def __setattr__(self, name, value):
        """A program may put something of its own in the place of a name, and what was there back, as mocks do."""
        module = ModuleType.__getattribute__(self, "__name__")
        given = _given.get(module, {})
        if name in given:
            found_by_mock = ModuleType.__getattribute__(self, "__dict__")[name]
            given[name] = _ours(module, name) if value is found_by_mock else value
        else:
            ModuleType.__setattr__(self, name, value)


def _ours(module: str, name: str) -> object:
    return getattr(importlib.import_module(_NAMES[module][0]), name)


class TakeOver:
    """What take_over() returns. It is undone by undo(), or at the end of a `with` block."""

    def __init__(self):
        self._is_undone = False

    def __enter__(self) -> TakeOver:
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        self.undo()

    def undo(self) -> None:
        """Gives torch.profiler back. Profiles that were made meanwhile go on, and the last of several calls is what counts."""
        if self in _handles:
            _handles.remove(self)
        if not _handles:
            _give_back()


def take_over(*, recordings: bool = False, background: bool = False, python_calls: bool = False, daemon: bool | None = None) -> TakeOver:
    """From now on, whoever asks torch.profiler or torch.autograd.profiler for a profile gets ours, with its schedule, handlers and files.

    It may be called before torch is imported. Names that other modules have imported from torch's before are replaced too; objects that
    they have made, and classes that they have derived, stay torch's. `with take_over():` ends it with the block, undo() when called.

    Args:
        recordings: write a recording (".mtrec") beside each trace that is exported.
        background: export_chrome_trace() returns at once, and a thread writes the file, which appears whole. wait_for_exports() waits for
            it, and so does the end of the program. A file that cannot be written is a warning.
        python_calls: profiles with stacks record every call of a Python or C function, as torch.profiler does.
        daemon: record what dynolog's daemon asks for (`dyno gputrace`). By default, if KINETO_USE_DAEMON is set; PyTorch, which would
            ask the daemon too, does not then, unless it was imported before.
    """
    handle = TakeOver()
    _handles.append(handle)
    _KinetoProfile._writes_recordings |= recordings
    _KinetoProfile._exports_in_background |= background
    if python_calls:
        _KinetoProfile._usual_python_calls = "stacks"
    if daemon if daemon is not None else KINETO_USE_DAEMON in os.environ:
        _serve_daemon()
    for module in _NAMES:
        after_import(module, lambda module=module: _take(module))
    return handle


def _serve_daemon() -> None:
    global _on_demand
    if _on_demand is None:
        keep_kineto_away()
        _on_demand = OnDemandProfiles()
        _on_demand.start()


def _take(name: str) -> None:
    if not _handles or name in _given:
        return
    module = sys.modules[name]
    theirs = vars(module)
    _given[name] = {each: _ours(name, each) for each in _NAMES[name][1].split() if each in theirs}
    _rebind({id(theirs[each]): (theirs[each], ours) for each, ours in _given[name].items()})
    module.__class__ = _Taken


def _rebind(ours_of: dict[int, tuple[object, object]]) -> None:
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or name.partition(".")[0] in _GET_THEIRS:
            continue
        names = ModuleType.__getattribute__(module, "__dict__")
        for each, value in list(names.items()):
            theirs, ours = ours_of.get(id(value), (None, None))
            if ours is not None:
                names[each] = ours
                _rebound.append((names, each, theirs, ours))


def _give_back() -> None:
    global _on_demand
    on_demand, _on_demand = _on_demand, None
    if on_demand is not None:
        on_demand.stop()
    for name, given in _given.items():
        module = sys.modules[name]
        module.__class__ = ModuleType
        for each, value in given.items():
            if value is not _ours(name, each):  # the program's own
                setattr(module, each, value)
    _given.clear()
    while _rebound:
        names, each, theirs, ours = _rebound.pop()
        if names.get(each) is ours:
            names[each] = theirs
    _KinetoProfile._writes_recordings = _KinetoProfile._exports_in_background = False
    _KinetoProfile._usual_python_calls = "off"


def options_of(value: str) -> dict[str, bool]:
    """The arguments of take_over() that MINDTORCH_TAKE_OVER asks for: "1" for none, or names of options that are True."""
    words = {word.strip() for word in value.split(",")} - {"1", ""}
    if unknown := words - {"recordings", "background", "python_calls", "daemon"}:
        raise ValueError(
            f'{ENVIRONMENT} is "1", or some of "recordings", "background", "python_calls" and "daemon" with commas between them, '
            f"got {', '.join(sorted(unknown))!r}"
        )
    return dict.fromkeys(words, True)


def take_over_from_environment() -> None:
    take_over(**options_of(os.environ[ENVIRONMENT]))
