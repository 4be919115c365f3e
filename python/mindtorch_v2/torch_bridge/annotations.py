"""Annotations of compiled code, and torch's flags that a profiler runs.

Torch makes annotations with _RecordFunctionFast, which does nothing unless torch's own profiler runs.
"""

from mindtorch_v2._C import _RecordFunctionFast


class Annotations:
    """Replaces torch's class while a session records. While torch's own profiler runs too, the replacement calls torch's class."""

    def __init__(self):
        self._replaced = None

    def start(self) -> None:
        import torch
        from torch.autograd import profiler

        self.stop()
        asked = torch.autograd._profiler_enabled
        # Compiled code looks here before it annotates anything.
        set_flag = not profiler._is_profiler_enabled
        self._replaced = (torch._C._profiler._RecordFunctionFast, set_flag, asked)  # first, so that stop() undoes whatever was done
        if set_flag:
            profiler._is_profiler_enabled = True
        torch._C._profiler._RecordFunctionFast = _class_instead_of(self._replaced[0], asked)
        torch.autograd._profiler_enabled = _profiler_enabled

    def stop(self) -> None:
        if self._replaced is None:
            return
        import torch
        from torch.autograd import profiler

        torch._C._profiler._RecordFunctionFast, set_flag, torch.autograd._profiler_enabled = self._replaced
        if set_flag:
            profiler._is_profiler_enabled = False
        self._replaced = None


def _profiler_enabled():
    """torch.autograd._profiler_enabled() while a session records."""
    return True


def _class_instead_of(original, torchs_profiler_enabled):
    class RecordFunctionFast:
        """The replacement of torch's _RecordFunctionFast that we record, with its arguments and keyword values."""

        def __init__(self, *args, **keywords):
            self._arguments = args, keywords
            self._ours = _RecordFunctionFast(*args, **keywords)
            self._entered = None

        def __enter__(self):
            args, keywords = self._arguments
            self._entered = original(*args, **keywords) if torchs_profiler_enabled() else self._ours
            self._entered.__enter__()

        def __exit__(self, *exception):
            if self._entered is not None:
                self._entered.__exit__(*exception)
                self._entered = None

    return RecordFunctionFast
