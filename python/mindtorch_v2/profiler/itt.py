"""Markers for Intel's ITT tools, with torch's names. ITT is not supported: the calls do nothing, so that annotated programs run."""

from contextlib import contextmanager

__all__ = ["is_available", "mark", "range", "range_pop", "range_push", "reason"]

reason = "mindtorch_v2 is not built with Intel's ITT library; use record_function to mark ranges in a profile"

_NOTHING = -1  # depth: no range is open, because none ever is


def is_available() -> bool:
    """False: see `reason`."""
    return False


def range_push(msg: str) -> int:
    """Does nothing (see `reason`)."""
    return _NOTHING


def range_pop() -> int:
    """Does nothing (see `reason`)."""
    return _NOTHING


def mark(msg: str) -> None:
    """Does nothing (see `reason`)."""


@contextmanager
def range(msg: str, *args, **kwargs):
    """Does nothing around a block (see `reason`)."""
    yield
