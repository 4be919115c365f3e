"""Annotations of compiled code, and torch's flags that a profiler runs.

Torch makes annotations with _RecordFunctionFast, which does nothing unless torch's own profiler runs.
"""

from mindtorch_v2._C import _stand_in_for, _stop_standing_in


class Annotations:
    """While a session records, calls of torch's class make objects of ours. They leave it to torch's while torch's own profiler runs."""

    def __init__(self):
        self._replaced = None

    def start(self) -> None:
        import torch
        from torch.autograd import profiler

        self.stop()
        asked = torch.autograd._profiler_enabled
        # Compiled code looks here before it annotates anything.
        set_flag = not profiler._is_profiler_enabled
        self._replaced = (set_flag, asked)  # first, so that stop() undoes whatever was done
        if set_flag:
            profiler._is_profiler_enabled = True
        _stand_in_for(torch._C._profiler._RecordFunctionFast, asked)
        torch.autograd._profiler_enabled = _profiler_enabled

    def stop(self) -> None:
        if self._replaced is None:
            return
        import torch
        from torch.autograd import profiler

        _stop_standing_in()
        set_flag, torch.autograd._profiler_enabled = self._replaced
        if set_flag:
            profiler._is_profiler_enabled = False
        self._replaced = None


def _profiler_enabled():
    """torch.autograd._profiler_enabled() while a session records."""
    return True
