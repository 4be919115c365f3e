"""Functions by which a program leaves its process without the end that Python knows: they write what is recorded before."""

from __future__ import annotations

import contextlib
import functools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_FUNCTIONS = ("_exit", "abort", "execv", "execve")  # the other functions of os that replace the process call the last two


def call_before_leaving(prepare: Callable[[str], None]) -> None:
    """Calls `prepare` with the name of the function. Whatever happens there, the program leaves as it wanted to."""
    for name in _FUNCTIONS:
        setattr(os, name, _prepared(getattr(os, name), f"os.{name}", prepare))


def _prepared(function, name, prepare):
    @functools.wraps(function)
    def leave(*args, **kwargs):
        with contextlib.suppress(BaseException):
            prepare(name)
        return function(*args, **kwargs)

    if function in os.supports_fd:
        os.supports_fd.add(leave)
    return leave
