"""Markers for Intel's ITT tools: torch's in a program that uses torch. Without torch the calls do nothing: annotated programs run."""

import sys
from contextlib import contextmanager

__all__ = ["is_available", "mark", "range", "range_pop", "range_push", "reason"]

reason = "mindtorch_v2 is not built with Intel's ITT library; use record_function to mark ranges in a profile"

_NOTHING = -1  # depth: no range is open, because none ever is


def _torchs():
    """torch's markers if the program uses torch and they work, else None."""
    theirs = sys.modules.get("torch.profiler.itt")
    return theirs if theirs is not None and theirs.is_available() else None


def is_available() -> bool:
    """Whether torch is imported and has ITT; if not, see `reason`."""
    return _torchs() is not None


def range_push(msg: str) -> int:
    """Begins a range; returns its depth."""
    theirs = _torchs()
    return theirs.range_push(msg) if theirs else _NOTHING


def range_pop() -> int:
    """Ends the innermost range; returns its depth."""
    theirs = _torchs()
    return theirs.range_pop() if theirs else _NOTHING


def mark(msg: str) -> None:
    """Marks a moment."""
    if theirs := _torchs():
        theirs.mark(msg)


@contextmanager
def range(msg: str, *args, **kwargs):
    """A range around a block."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
