"""A wish to write what a monitor has kept, and the names of the files that come of it."""

from __future__ import annotations

import os
import re
import socket
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mindtorch_v2.base.distributed import rank_of_environment

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_WORD = 60


@dataclass(eq=False)
class Request:
    """A wish to write what was kept. `done` is set once the file is there, or once it is known that there will be none."""

    reason: str
    detail: str = ""
    output: str | None = None
    stacks: dict[str, list[str]] | None = None
    due_step: int = 0
    since: float | None = None  # what began earlier, by the monitor's clock, is left out
    writes: bool = True  # False: the recording is only looked at
    done: threading.Event = field(default_factory=threading.Event)
    file: str | None = None
    error: str | None = None  # why there is no file
    on_end: Callable[[Request], None] | None = None

    def end(self, error: str | None = None) -> None:
        if self.done.is_set():
            return
        self.error = error
        self.done.set()
        if self.on_end is not None:
            self.on_end(self)


def plain_text(text: object) -> str:
    """The text without halves of surrogate pairs, which no file can hold."""
    return str(text).encode("utf-8", "replace").decode()


def file_name(reason: str, step: int) -> str:
    """Who, when and why, as a name that every file system takes."""
    rank = rank_of_environment()
    who = f"{_word(socket.gethostname())}_{os.getpid()}" if rank is None else f"rank{rank}"
    return f"{who}.step{step}.{_word(reason)}.{_moment()}.mtrec"


def _word(text: str) -> str:
    """A part of a file name: letters, digits and "_" only, because a point begins the next part."""
    return re.sub(r"[^A-Za-z0-9+-]+", "_", text)[:_LONGEST_WORD].strip("_") or "no_name"


_last_moment = 0


def _moment() -> int:
    """Nanoseconds since 1970 that no other name of this process has."""
    global _last_moment
    _last_moment = max(time.time_ns(), _last_moment + 1)
    return _last_moment


def all_stacks() -> dict[str, list[str]]:
    """The Python stack of every thread, outermost call first."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return {
        plain_text(f"{names.get(ident, 'unknown')} ({ident})"): [plain_text(line).rstrip() for line in traceback.format_stack(frame)]
        for ident, frame in sys._current_frames().items()
    }


def stacks_text(stacks: dict[str, list[str]]) -> str:
    return "\n\n".join("\n".join([f"Thread {name}:", *lines]) for name, lines in stacks.items()) + "\n"
