"""The command `mtprof`: commands that are written in C++ run in this process, and so do those that are written in Python."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from importlib import import_module

from mindtorch_v2 import _C

# Commands, and the modules of mindtorch_v2.cli that hold them.
_IN_PYTHON = {
    "run": "run.command",
    "attach": "attach.command",
    "collect": "run.collect",
    "query": "query",
    "doctor": "doctor",
    "trigger": "trigger",
    "live": "live",
}

_INTERRUPTED, _PIPE_CLOSED = 130, 141  # as a shell shows a program that SIGINT or SIGPIPE has ended

_OF_OUTPUTS = (errno.EBADF, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ENOSPC)

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Problem(Exception):
    """Why a command cannot do what it was asked for, and what to do about it. The user reads the text, without a traceback."""


def shown(text: str) -> str:
    """Text from files as a terminal may show it: a name may hold escape sequences."""
    return _CONTROLS.sub("\ufffd", text)


class _ClosedOutput(io.TextIOBase):
    """Stands for an output that was closed before the program began, for which Python has None."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def main(argv: list[str] | None = None) -> int:
    """Runs the command. Returns the exit status; what goes wrong is one line on stderr."""
    argv = sys.argv[1:] if argv is None else argv
    _prepare_outputs(is_needed=argv[:1] != ["run"])
    try:
        status = _run_command(argv)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # `mtprof query ... | head -1`
        _drop_output()
        return _PIPE_CLOSED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Problem as problem:
        return _fail(str(problem))
    except OSError as error:
        _drop_output()
        what = f"{error.filename}: " if error.filename else "cannot write the result: " if error.errno in _OF_OUTPUTS else ""
        return _fail(f"{what}{error.strerror or error}")
    except Exception as error:
        if sys.flags.dev_mode:
            traceback.print_exc()
        return _fail(f"{type(error).__name__}: {error} (a mistake of mtprof; PYTHONDEVMODE=1 shows where it happened)")


def _run_command(argv: list[str]) -> int:
    if argv[:1] and argv[0] in _IN_PYTHON:
        return import_module(f"mindtorch_v2.cli.{_IN_PYTHON[argv[0]]}").main(argv[1:])
    if argv[:1] == ["ranks"] and any(argument.split("=")[0] == "--scheduler" for argument in argv):
        return import_module("mindtorch_v2.fleet._command").main(argv[1:])
    if argv[:1] == ["export"]:
        import_module("mindtorch_v2.profiler._parquet")  # adds the formats that Python writes
    with _signals_of_a_program():
        return _C.run_program(argv)


@contextlib.contextmanager
def _signals_of_a_program() -> Iterator[None]:
    """Interrupts and closed pipes end the process, as they end a native program: Python would note them until C++ is done."""
    usual = {}
    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            usual[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_DFL)
        usual[signal.SIGPIPE] = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def _prepare_outputs(is_needed: bool) -> None:
    """A program that runs under the command goes on whatever becomes of our output; for other commands, their output is all there is."""
    if sys.stdout is None:
        sys.stdout = _ClosedOutput() if is_needed else io.StringIO()
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names in a terminal that knows only ASCII


def _drop_output() -> None:
    """Keeps Python from trying again to write what is left when it ends."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _fail(message: str) -> int:
    print(f"mtprof: {shown(message)}", file=sys.stderr)
    return 1
