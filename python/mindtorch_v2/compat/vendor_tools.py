"""Tools of vendors that torch.autograd.profiler supports: torch's own in a program that uses torch. Without torch they raise an error."""

import sys


class _Unsupported:
    """Markers for another vendor's profiler. torch emits them for its own ops; there are none for the ops of this package."""

    _name = ""

    def __new__(cls, enabled=True, record_shapes=False):
        theirs = sys.modules.get("torch.autograd.profiler")
        return super().__new__(cls) if theirs is None else getattr(theirs, cls.__name__)(enabled, record_shapes)

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self):
        if not self.enabled:
            return None
        raise RuntimeError(
            f"emit_{self._name.lower()}() is not supported: mindtorch_v2 emits no {self._name} ranges. "
            "Record with mindtorch_v2.profiler.profile and open the trace in Perfetto instead."
        )

    def __exit__(self, exc_type, exc_val, exc_tb):
        return False


class emit_nvtx(_Unsupported):
    """torch: every op becomes an NVTX range. Without torch, entering it raises RuntimeError, unless `enabled` is False."""

    _name = "NVTX"


class emit_itt(_Unsupported):
    """torch: every op becomes an ITT range. Without torch, entering it raises RuntimeError, unless `enabled` is False."""

    _name = "ITT"


def load_nvprof(path):
    """torch: reads a file of nvprof, a tool that no longer exists. Raises RuntimeError."""
    raise RuntimeError(f"{path!r} cannot be read: files of nvprof are not supported. mtprof reads Chrome traces and its own files.")


parse_nvprof_trace = load_nvprof
