"""What `mtprof run` does inside each process of the program: begins the recording when PyTorch or mindtorch_v2 is imported, follows the
optimizers, and ends the recording with the program.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import os
import sys

from mindtorch_v2.profiler._hosts import activate_hosts
from mindtorch_v2.profiler._run_recorder import Recorder, Settings

_recorder: Recorder | None = None
_hooked: set[str] = set()


def program_has_imported(name: str) -> None:
    """Called when torch, mindtorch_v2 or its optimizers have been imported."""
    global _recorder
    if name == "torch":
        _build_bridge()
    if _recorder is None:
        _recorder = Recorder(Settings.from_environment(), _finish_with_multiprocessing)
        os.register_at_fork(after_in_child=_forked)
        atexit.register(_finish)
        _recorder.begin()
    _hook_optimizers(name)


def _build_bridge() -> None:
    """PyTorch is recorded through a library that belongs to the release of PyTorch. It is built if the package has none for this one."""
    from mindtorch_v2 import torch_bridge

    state = torch_bridge.activate(lambda line: print(f"mtprof: {line}", file=sys.stderr, flush=True))
    if state.startswith("inactive"):
        print(f"mtprof: PyTorch's ops are not recorded: {state.removeprefix('inactive: ')}", file=sys.stderr)


def _hook_optimizers(name: str) -> None:
    if name in _hooked or name == "mindtorch_v2":
        return
    _hooked.add(name)
    if name == "torch":
        activate_hosts()
        _hook_torch_optimizers()
    else:
        optimizers = importlib.import_module(name)
        optimizers.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: _recorder.optimizer_has_stepped(optimizer))


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
                _recorder.optimizer_has_stepped(self)
            return result

        return step

    torch.optim.Optimizer.profile_hook_step = staticmethod(profile_hook_step)


def _forked() -> None:
    """Workers of data loaders are not recorded; a process that trains is."""
    global _recorder
    old, _recorder = _recorder, Recorder(_recorder.settings, _finish_with_multiprocessing)
    _recorder._parent = old  # its profile must not be dropped here, which would warn


def _finish_with_multiprocessing() -> None:
    """Processes of multiprocessing leave without running what atexit was given."""
    multiprocessing = sys.modules.get("multiprocessing.util")
    if multiprocessing is not None:
        multiprocessing.Finalize(None, _finish, exitpriority=1)


def _finish() -> None:
    if _recorder is not None:
        _recorder.finish()
