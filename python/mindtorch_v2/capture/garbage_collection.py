"""Python's garbage collections as scopes of a trace (record_python_gc_info)."""

import gc

from mindtorch_v2._C import record_function


class GarbageCollection:
    """Records each collection as a scope "Python GC", from start() to stop()."""

    def __init__(self):
        self._scope = None

    def start(self):
        gc.callbacks.append(self._collecting)

    def stop(self):
        if self._collecting in gc.callbacks:
            gc.callbacks.remove(self._collecting)

    cleanup = stop

    def _collecting(self, phase, info):
        if phase == "start":
            self._scope = record_function("Python GC")
            self._scope.__enter__()
        elif self._scope is not None:
            self._scope.__exit__(None, None, None)
            self._scope = None
