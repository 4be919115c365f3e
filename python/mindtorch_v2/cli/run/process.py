"""What `mtprof run` does inside each process of the program: begins the recording when PyTorch or mindtorch_v2 is imported, follows the
optimizers, and ends the recording with the process.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import sys

from mindtorch_v2 import torch_bridge
from mindtorch_v2.cli.run.leaving import call_before_leaving
from mindtorch_v2.cli.run.recorder import Recorder, Settings, tell
from mindtorch_v2.profiler._hosts import activate_hosts

_recorder: Recorder | None = None
_hooked: set[str] = set()


def program_has_imported(name: str) -> None:
    """Called when torch, mindtorch_v2 or its optimizers have been imported."""
    global _recorder
    if name == "torch":
        _build_bridge()
    if _recorder is None:
        _recorder = Recorder(Settings.from_environment())
        os.register_at_fork(after_in_child=_forked)
        atexit.register(_finish)
        call_before_leaving(_leave)
        _recorder.begin()
        _finish_with_multiprocessing()
    _hook_optimizers(name)


def _build_bridge() -> None:
    """PyTorch is recorded through a library that belongs to the release of PyTorch. It is built if the package has none for this one."""
    state = torch_bridge.activate(tell)
    if state.startswith("inactive"):
        tell(f"PyTorch's ops are not recorded: {state.removeprefix('inactive: ')}")


def _hook_optimizers(name: str) -> None:
    if name in _hooked or name == "mindtorch_v2":
        return
    _hooked.add(name)
    if name == "torch":
        activate_hosts()
        _hook_torch_optimizers()
    else:
        optimizers = importlib.import_module(name)
        optimizers.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: _has_stepped(optimizer))


def _hook_torch_optimizers() -> None:
    """Torch calls its own hooks inside of the scope "Optimizer.step#..."; a step of the program must end after that scope."""
    import torch

    original = torch.optim.Optimizer.profile_hook_step

    def profile_hook_step(function):
        hooked = original(function)

        @functools.wraps(function)
        def step(self, *args, **kwargs):
            if torch.compiler.is_compiling():
                return hooked(self, *args, **kwargs)
            _recorder.steps.depth += 1  # a step may call the step of its base class
            try:
                result = hooked(self, *args, **kwargs)
            finally:
                _recorder.steps.depth -= 1
            if _recorder.steps.depth == 0:
                _has_stepped(self)
            return result

        return step

    torch.optim.Optimizer.profile_hook_step = staticmethod(profile_hook_step)


def _has_stepped(optimizer) -> None:
    if not _recorder.has_begun:  # a worker that trains after all
        _recorder.begin()
    _recorder.optimizer_has_stepped(optimizer)


def _forked() -> None:
    """The child records itself, unless it is a worker of a data loader, which is recorded only if it trains."""
    global _recorder
    old, _recorder = _recorder, Recorder(_recorder.settings)
    _recorder.keep_alive = old  # its profile must not be dropped here, which would warn
    caller = sys._getframe().f_back
    if not _will_be_replaced(caller) and not _loads_data(caller):
        _recorder.begin()
    _finish_with_multiprocessing()


def _will_be_replaced(frame) -> bool:
    """Whether subprocess has forked, which runs another program in the child."""
    return frame is not None and frame.f_globals.get("__name__") == "subprocess"


def _loads_data(frame) -> bool:
    """Whether multiprocessing has forked for a worker of PyTorch's DataLoader."""
    while frame is not None and frame.f_globals.get("__name__") != "multiprocessing.popen_fork":
        frame = frame.f_back
    target = getattr(frame.f_locals.get("process_obj"), "_target", None) if frame is not None else None
    return getattr(target, "__module__", None) == "torch.utils.data._utils.worker"


def _finish_with_multiprocessing(*_) -> None:
    """Processes of multiprocessing leave without running what atexit was given, and a forked one forgets how its parent was to finish."""
    if "multiprocessing.util" not in sys.modules:
        return
    from multiprocessing import parent_process, util

    if parent_process() is not None:
        util.Finalize(None, _finish, exitpriority=1)
    util.register_after_fork(_recorder, _finish_with_multiprocessing)


def _finish() -> None:
    if _recorder is not None:
        _recorder.finish()


def _leave(function: str) -> None:
    if _recorder is not None:
        _recorder.leave(function)
