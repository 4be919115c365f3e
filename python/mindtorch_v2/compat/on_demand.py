"""Traces that a fleet's daemon asks for, of a program whose profiler this one has taken over."""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict
from typing import TYPE_CHECKING

from mindtorch_v2 import _C, torch_bridge
from mindtorch_v2.base.enums import ProfilerAction
from mindtorch_v2.monitor.daemon import Daemon
from mindtorch_v2.monitor.thread import tell
from mindtorch_v2.profiler.profiler import profile
from mindtorch_v2.torch_bridge.imports import after_import, around_import, wait_while_imported

if TYPE_CHECKING:
    from mindtorch_v2.monitor.daemon import Wish

KINETO_USE_DAEMON = "KINETO_USE_DAEMON"


class OnDemandProfiles:
    """Records each wish with a profile of its own. Steps are those of the optimizer that has made most."""

    def __init__(self):
        self._prof: profile | None = None
        self._steps: defaultdict[int, int] = defaultdict(int)  # by optimizer
        self._step = 0
        self._hook = None
        self._has_ended = False
        self._process = os.getpid()
        self._daemon = Daemon(self)

    def start(self) -> None:
        after_import("torch.optim.optimizer", self._count_steps)
        self._daemon.start()

    def stop(self) -> None:
        self._has_ended = True
        if self._hook is not None:
            self._hook.remove()
        self._daemon.stop()
        prof, self._prof = self._prof, None
        if prof is not None:
            prof.stop()

    def begin(self, wish: Wish) -> None:
        if _C.is_profiler_enabled():
            raise RuntimeError("the program profiles itself now")
        if "torch" in sys.modules:
            wait_while_imported("torch")
            state = torch_bridge.activate_if_possible()  # it builds no bridge, which would take a minute of the processor
            if state.startswith("inactive"):
                raise RuntimeError(state.removeprefix("inactive: "))
        prof = profile(schedule=lambda step: ProfilerAction.RECORD, **wish.options)
        prof.start()
        self._prof = prof

    def step(self) -> None:
        self._prof.step()

    def end(self, wish: Wish) -> None:
        prof, self._prof = self._prof, None
        prof.stop()
        # A step of the program may end the trace, and must not wait for the file.
        threading.Thread(target=prof.export_chrome_trace, args=(wish.path,), name="mindtorch export").start()

    def _count_steps(self) -> None:
        if not self._has_ended:
            self._hook = sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(self._has_stepped)

    def _has_stepped(self, optimizer, _args, _kwargs) -> None:
        self._steps[id(optimizer)] += 1
        if self._steps[id(optimizer)] <= self._step or os.getpid() != self._process:
            return
        self._step = self._steps[id(optimizer)]
        try:
            self._daemon.stepped(self._step)
        except Exception as error:  # this is called in the program's step
            tell(f"A step is missing from the trace that the daemon asked for: {error}")


def keep_kineto_away() -> None:
    """PyTorch asks the same daemon if it is imported with KINETO_USE_DAEMON, and each trace goes to whoever asks first."""
    if KINETO_USE_DAEMON not in os.environ:
        return
    if "torch" in sys.modules:
        tell(f"PyTorch was imported with {KINETO_USE_DAEMON} before it was taken over: it may answer the daemon instead of this profiler.")
        return
    value = os.environ[KINETO_USE_DAEMON]
    around_import(
        "torch",
        before=lambda: os.environ.pop(KINETO_USE_DAEMON, None),
        after=lambda: os.environ.setdefault(KINETO_USE_DAEMON, value),
    )
