"""What `mtprof attach` does inside of the process: it records until the command asks it to stop, and leaves nothing behind.

It runs in a thread of its own. Nothing here may change what the program does: what goes wrong is written for the command to say.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from mindtorch_v2 import _C, torch_bridge
from mindtorch_v2.cli.run.folder import Process, write_whole
from mindtorch_v2.cli.run.recorder import _HOOK, Recorder, Settings
from mindtorch_v2.monitor.monitor import Monitor
from mindtorch_v2.torch_bridge.imports import wait_while_imported

if TYPE_CHECKING:
    from collections.abc import Callable

REQUEST, STATE, STOP = "request.json", "state.json", "stop"
_BUSY = "a profile or a monitor of mindtorch_v2 records in it already; one at a time is possible"
_LOOK_S = 0.05  # how long a request to stop may wait

_monitor: _AttachedMonitor | None = None


class Refusal(Exception):
    """Why nothing is recorded: a sentence for the user."""


class OptimizerSteps:
    """Calls a function whenever an optimizer has made a step, after the scope that torch has around it."""

    def __init__(self, has_stepped: Callable[[Any], None]):
        self._has_stepped = has_stepped
        self._process = os.getpid()
        self._last = threading.local()
        self._undo = contextlib.ExitStack()

    def install(self) -> None:
        if "torch" in sys.modules:
            self._undo.callback(import_module("torch.optim.optimizer").register_optimizer_step_post_hook(self._noted).remove)
            self._watch_scopes(import_module("torch.autograd.profiler").record_function)
        if (embedded := sys.modules.get("mindtorch_v2.optim.optimizer")) is not None:
            hook = embedded.register_optimizer_step_post_hook(lambda optimizer, args, kwargs: self._stepped(optimizer))
            self._undo.callback(hook.remove)

    def remove(self) -> None:
        self._undo.close()

    def _watch_scopes(self, scope: type) -> None:
        """Torch calls hooks of optimizers within their scope. The step of the program ends when that scope does."""
        leave = scope.__exit__

        def leave_scope(scope, *details):
            result = leave(scope, *details)
            if getattr(self._last, "optimizer", None) is not None and scope.name.startswith("Optimizer.step#"):
                optimizer, self._last.optimizer = self._last.optimizer, None
                self._stepped(optimizer)
            return result

        def undo():
            if scope.__exit__ is leave_scope:  # unless somebody has replaced it meanwhile
                scope.__exit__ = leave

        scope.__exit__ = leave_scope
        self._undo.callback(undo)

    def _noted(self, optimizer, _args, _kwargs) -> None:
        self._last.optimizer = optimizer

    def _stepped(self, optimizer) -> None:
        if os.getpid() == self._process:  # a forked child is not recorded
            self._has_stepped(optimizer)


class _Home:
    """The folder through which the agent and the command talk."""

    def __init__(self, path: str):
        self._path = Path(path)
        self.request = json.loads((self._path / REQUEST).read_text())
        self._asker = Process(**self.request["asker"])

    def say(self, state: str, **facts) -> None:
        with contextlib.suppress(OSError):  # the command has given up, and removed the folder
            write_whole(self._path / STATE, {"state": state, "pid": os.getpid(), **facts})

    def is_over(self) -> bool:
        """Whether the command has gone, or asks to stop."""
        return (self._path / STOP).exists() or not self._path.is_dir() or self._asker.is_alive() is False


def work(home: str) -> None:
    """Does what the command asks for. Never raises."""
    try:
        home = _Home(home)
    except (OSError, ValueError):
        return  # the command has given up
    try:
        {"record": _record, "monitor": _start_monitor, "detach": _detach}[home.request["do"]](home)
    except Refusal as refusal:
        home.say("refused", reason=str(refusal))
    except Exception as error:
        home.say("refused", reason=f"{type(error).__name__}: {error}")


def _check() -> None:
    """Raises Refusal if a recording would stay empty or harm another one. Never builds a bridge: that takes a minute of the processor."""
    if _C.profiler_status()[0]:
        raise Refusal(_BUSY)
    if "torch" in sys.modules:
        wait_while_imported("torch")
        state = torch_bridge.activate_if_possible()
        if state.startswith("inactive"):
            raise Refusal(f"PyTorch's ops cannot be recorded: {state.removeprefix('inactive: ')}")


def _record(home: _Home) -> None:
    _check()
    said: list[str] = []
    sys.modules[_HOOK] = SimpleNamespace(tell=said.append)  # by which a recorder says what goes wrong
    try:
        recorder = Recorder(Settings(**home.request["settings"]))
        recorder.begin()
        if recorder.ended:
            raise Refusal("; ".join(said) or "the command has gone")
        if not recorder._spill_path.exists():  # another one pauses now, and is in the way all the same
            recorder.prof.stop()
            raise Refusal(_BUSY)
        _record_until_told(home, recorder)
        home.say("done", remarks=said)
    finally:
        del sys.modules[_HOOK]


def _record_until_told(home: _Home, recorder: Recorder) -> None:
    process = os.getpid()

    def finish() -> None:
        if os.getpid() == process:
            recorder.finish()

    steps = OptimizerSteps(recorder.optimizer_has_stepped)
    atexit.register(finish)  # the program may end meanwhile
    try:
        steps.install()
        home.say("recording")
        seconds = home.request["seconds"]
        deadline = None if seconds is None else time.monotonic() + seconds
        while not recorder.ended and not home.is_over() and (deadline is None or time.monotonic() < deadline):
            time.sleep(_LOOK_S)
    finally:
        steps.remove()
        atexit.unregister(finish)
        finish()


class _AttachedMonitor:
    """A monitor that stays in the program, and the hooks that count its steps."""

    def __init__(self, options: dict[str, Any]):
        self.monitor = Monitor(**options)
        self._steps = OptimizerSteps(lambda optimizer: self.monitor.step())

    def start(self) -> None:
        self.monitor.start()
        self._steps.install()

    def stop(self) -> None:
        self._steps.remove()
        self.monitor.stop()


def _start_monitor(home: _Home) -> None:
    global _monitor
    _check()
    _monitor = _AttachedMonitor(home.request["options"])
    _monitor.start()
    home.say("done")


def _detach(home: _Home) -> None:
    global _monitor
    monitor, _monitor = _monitor, None
    if monitor is None:
        raise Refusal("`mtprof attach --monitor` has left no monitor in it")
    monitor.stop()
    home.say("done")
