"""The hooks in torch's Python code while a session records: annotations of compiled code, and calls of modules."""

import ctypes
import sys

from mindtorch_v2.torch_bridge.annotations import Annotations
from mindtorch_v2.torch_bridge.modules import ModuleCalls


class SessionHooks:
    """A listener of the recorder. Sessions may start and stop on any thread, one at a time."""

    def __init__(self, calls: ctypes.CDLL):
        self._wants_modules = ctypes.c_uint32.in_dll(calls, "mindtorch_torch_wants_modules").value
        self._annotations = Annotations(calls)
        self._modules = ModuleCalls()
        # Python must keep the callback alive as long as the library may call it.
        self._listener = ctypes.CFUNCTYPE(None, ctypes.c_uint32)(self._session_changes)
        calls.mindtorch_torch_listen(self._listener)

    def _session_changes(self, wants: int) -> None:
        if sys.is_finalizing():
            return
        if not wants:
            self._annotations.stop()
            self._modules.stop()
            return
        self._annotations.start()
        if wants & self._wants_modules:
            self._modules.start()
