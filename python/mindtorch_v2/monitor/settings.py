"""What a monitor is told: numbers, sizes and times, found wrong where they are given and not when they are needed."""

from __future__ import annotations

import argparse
import math
import operator
import os
import re
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_TIMES = {"ms": 1e-3, "s": 1, "m": 60, "min": 60, "h": 3600}
_LONGEST = 10 * 365 * 24 * 3600  # seconds: longer times are mistakes


def parse_size(size: int | str, name: str = "max_memory") -> int:
    """Bytes of a number, or of a text such as "256MB"."""
    form = f'{name} must be a number of bytes or a text such as "256MB", got {size!r}'
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", size.lower())
        if match is None:
            raise ValueError(form)
        size = int(float(match[1]) * _UNITS[match[2]])
    else:
        size = _integer(size, form)
    if not 0 < size < 1 << 62:
        raise ValueError(form)
    return size


def parse_window(keep_last: int | str) -> dict[str, Any]:
    """The options of a recording that keeps so many steps (a number) or so much time (a text such as "60s")."""
    if isinstance(keep_last, str):
        seconds = _seconds_of_text(keep_last)
        if seconds:
            return {"keep_last_seconds": seconds}
    elif not isinstance(keep_last, bool):
        steps = _integer(keep_last, f'keep_last must be a number of steps or a time such as "60s", got {keep_last!r}')
        if not 1 <= steps < 1 << 62:
            raise ValueError(f"keep_last must be at least one step, got {keep_last}")
        return {"keep_last_steps": steps}
    raise ValueError(f'keep_last must be a number of steps or a time such as "60s", got {keep_last!r}')


def parse_seconds(name: str, time: float | str) -> float:
    """Seconds of a number, or of a text such as "5m"."""
    form = f'{name} must be a number of seconds or a time such as "5m", got {time!r}'
    seconds = _seconds_of_text(time) if isinstance(time, str) else _number(time, form)
    if seconds is None or not 0 < seconds <= _LONGEST:
        raise ValueError(form)
    return seconds


def seconds_argument(text: str) -> float:
    """The same of a flag of the command line, for argparse; a number without a unit is seconds."""
    try:
        return parse_seconds("it", float(text) if re.fullmatch(r"[0-9.]+", text) else text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'it must be a number of seconds or a time such as "5m", got {text!r}') from None


def parse_share(name: str, share: float) -> float:
    form = f"{name} must be a share between 0 and 1, got {share!r}"
    share = _number(share, form)
    if not 0 < share <= 1:
        raise ValueError(form)
    return share


def parse_factor(slow_steps: bool | float) -> float | None:
    """The factor above the median from which on a step can be slow; None if slow steps are not looked for."""
    if isinstance(slow_steps, bool):
        return 1.5 if slow_steps else None
    form = f"slow_steps must be True, False or a factor above the median such as 1.5, got {slow_steps!r}"
    factor = _number(slow_steps, form)
    if not 0 <= factor < math.inf:
        raise ValueError(form)
    return factor or None


def parse_folder(folder: str | os.PathLike) -> str:
    """An absolute path: a program that changes its folder later gets its files where it asked for them."""
    try:
        path = os.fsdecode(folder)
    except TypeError:
        raise TypeError(f"folder must be a path, got {folder!r}") from None
    if "\0" in path:
        raise ValueError(f"folder must be a path, got {folder!r}")
    try:
        return os.path.abspath(path)
    except OSError:  # the current folder has been removed
        return path


def parse_signals(signals: Iterable[int]) -> tuple[signal.Signals, ...]:
    form = f"signals must be a list of signals such as [signal.SIGUSR1], got {signals!r}"
    try:
        numbers = tuple(signal.Signals(operator.index(number)) for number in signals)
    except TypeError:
        raise TypeError(form) from None
    except ValueError:
        raise ValueError(form) from None
    if {signal.SIGKILL, signal.SIGSTOP} & set(numbers):
        raise ValueError(f"{form}: no program can handle SIGKILL and SIGSTOP")
    return numbers


def parse_functions(name: str, functions: Iterable[Callable]) -> tuple[Callable, ...]:
    try:
        functions = tuple(functions)
    except TypeError:
        raise TypeError(f"{name} must be a list of functions, got {functions!r}") from None
    for function in functions:
        parse_function(f"each of {name}", function)
    return functions


def parse_function(name: str, function: Callable) -> Callable:
    if not callable(function):
        raise TypeError(f"{name} must be a function, got {function!r}")
    return function


def parse_clock(clock: Callable[[], float]) -> Callable[[], float]:
    _number(parse_function("clock", clock)(), "clock must return a number of seconds")
    return clock


def parse_steps(steps: int) -> int:
    form = f"steps must be a number that is not negative, got {steps!r}"
    steps = _integer(steps, form)
    if steps < 0:
        raise ValueError(form)
    return steps


def _seconds_of_text(text: str) -> float | None:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)\s*", text)
    if match is None:
        return None
    seconds = float(match[1]) * _TIMES[match[2]]
    return seconds if seconds <= _LONGEST else None


def _integer(value: Any, form: str) -> int:
    if isinstance(value, bool):
        raise TypeError(form)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(form) from None


def _number(value: Any, form: str) -> float:
    if isinstance(value, bool | str | bytes):
        raise TypeError(form)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(form) from None
    except OverflowError:
        raise ValueError(form) from None
