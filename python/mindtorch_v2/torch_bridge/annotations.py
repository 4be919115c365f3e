"""Annotations of compiled code. Torch makes them with _RecordFunctionFast, which does nothing unless torch's own profiler runs."""

import ctypes


class Annotations:
    """Replaces torch's class while a session records. While torch's own profiler runs too, the replacement calls torch's class."""

    def __init__(self, calls: ctypes.CDLL):
        self._open = calls.mindtorch_torch_open_scope
        self._close = calls.mindtorch_torch_close_scope
        self._replaced = None

    def start(self) -> None:
        import torch
        from torch.autograd import profiler

        self.stop()
        # Compiled code looks here before it annotates anything.
        set_flag = not profiler._is_profiler_enabled
        self._replaced = (torch._C._profiler._RecordFunctionFast, set_flag)  # first, so that stop() undoes whatever was done
        if set_flag:
            profiler._is_profiler_enabled = True
        torch._C._profiler._RecordFunctionFast = _class_instead_of(self._replaced[0], self._open, self._close)

    def stop(self) -> None:
        if self._replaced is None:
            return
        import torch
        from torch.autograd import profiler

        torch._C._profiler._RecordFunctionFast, set_flag = self._replaced
        if set_flag:
            profiler._is_profiler_enabled = False
        self._replaced = None


def _class_instead_of(original, open_scope, close_scope):
    from torch.autograd import _profiler_enabled

    class RecordFunctionFast:
        """The replacement of torch's _RecordFunctionFast that we record."""

        def __init__(self, name, *args, **keywords):
            values = keywords.get("keyword_values") or (args[1] if len(args) > 1 else {})
            self._name = name.encode()
            self._is_op = values.get("scope") != "user_scope"
            self._make_original = lambda: original(name, *args, **keywords)
            self._original = self._scope = None

        def __enter__(self):
            if _profiler_enabled():
                self._original = self._make_original()
                self._original.__enter__()
            else:
                self._scope = open_scope(self._name, self._is_op)

        def __exit__(self, *exception):
            if self._original is not None:
                self._original.__exit__(*exception)
                self._original = None
            elif self._scope is not None:
                close_scope(self._scope)
                self._scope = None

    return RecordFunctionFast
