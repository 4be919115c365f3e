"""The hooks in torch's Python code while a session records: annotations of compiled code, calls of modules, steps of optimizers, starts of
torch.profiler."""

import ctypes
import sys
from types import SimpleNamespace

from mindtorch_v2._C import _session_listener
from mindtorch_v2.torch_bridge.annotations import Annotations
from mindtorch_v2.torch_bridge.modules import ModuleCalls
from mindtorch_v2.torch_bridge.nested_profiler import NestedProfiler
from mindtorch_v2.torch_bridge.optimizers import OptimizerSteps


class SessionHooks:
    """A listener of the recorder. Sessions may start and stop on any thread, one at a time."""

    def __init__(self, calls: SimpleNamespace):
        self._wants_modules = calls.mindtorch_torch_wants_modules
        self._wants_owners = calls.mindtorch_torch_wants_owners
        self._annotations = Annotations()
        self._modules = ModuleCalls()
        self._optimizers = OptimizerSteps()
        self._nested = NestedProfiler(calls)
        # Not a callback of ctypes, which would print what is raised in it (a KeyboardInterrupt, say) and lose it.
        calls.mindtorch_torch_listen(ctypes.c_void_p(_session_listener(self._session_changes)))

    def _session_changes(self, wants: int) -> None:
        """Is called again if a KeyboardInterrupt ends it early."""
        if sys.is_finalizing():
            return
        if not wants:
            self._stop_all(self._nested, self._annotations, self._optimizers, self._modules)
            return
        self._annotations.start()
        self._nested.start()
        if wants & self._wants_modules:
            self._modules.start()
        if wants & self._wants_owners == self._wants_owners:
            self._optimizers.start()

    def _stop_all(self, hooks, *more) -> None:
        """Each is stopped, whatever happens in another."""
        try:
            hooks.stop()
        finally:
            if more:
                self._stop_all(*more)
