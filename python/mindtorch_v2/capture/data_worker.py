"""What a worker of PyTorch's DataLoader records of itself: fetching, items, collating and the queues, in a file that the process with the
training loop reads (python/src/sampling/worker_spans.h describes it). Whatever goes wrong, the worker works on and records nothing.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path

from mindtorch_v2.base.run_delay import run_delay_ns

_MOST_BYTES = 8 << 20  # of a file; what is older is kept in one more of this size
_MOST_LINES = 100_000  # that wait for a moment in which the file can be opened


class WorkerLog:
    """Appends spans to the file of this worker.

    The file is open only while something is written. The number of a file that stays open can become that of another file: of one that the
    program opens after it has closed all descriptors.
    """

    def __init__(self, folder: Path, worker: int):
        self._path = folder / f"{os.getpid()}.spans"
        self._header = f"w {os.getpid()} {threading.get_native_id()} {worker}\n"
        self._names: dict[str, int] = {}
        self._lines: list[str] = []  # not yet written
        self._lost = self._bytes = 0
        self._ended = False
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.unlink(missing_ok=True)  # of a process that had this number
        except OSError:
            self._ended = True
        self._begin()

    def _begin(self) -> None:
        """The first lines of a new file."""
        self._bytes = 0
        self._lines = [self._header, *(f"n {number} {words}\n" for words, number in self._names.items()), f"l {self._lost}\n"]

    def name(self, text: str, source: str = "") -> int:
        """The number of a name, whose code is at `source` ("file.py:12")."""
        words = f"{' '.join(text.split())}\t{' '.join(source.split())}"
        if words not in self._names:
            self._lines.append(f"n {len(self._names)} {words}\n")
        return self._names.setdefault(words, len(self._names))

    def span(self, name: int, begin: int, not_running: int | None = None) -> None:
        """From `begin` until now, and for how long of that this thread was ready to run without a processor, where that is known."""
        told = "" if not_running is None else f" {max(0, not_running)}"
        self._lines.append(f"s {name} {begin} {time.monotonic_ns()}{told}\n")

    def flush(self) -> None:
        if self._ended:
            self._lines.clear()
            return
        try:
            if self._bytes > _MOST_BYTES:
                self._turn_over()
            self._append("".join(self._lines).encode("utf-8", "replace"))
            self._lines.clear()
        except OSError as error:
            # A program that has no descriptor to give has one later. On a full disk, or without the folder, nothing more is recorded.
            is_later = error.errno in (errno.EMFILE, errno.ENFILE) and len(self._lines) < _MOST_LINES
            self._ended = not is_later

    def _turn_over(self) -> None:
        old, waiting = self._path.with_suffix(".old"), self._lines
        lost = _spans_of(old)
        os.replace(self._path, old)
        self._lost += lost
        self._begin()
        self._lines += waiting

    def _append(self, text: bytes) -> None:
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, text)
        finally:
            os.close(file)
        self._bytes += len(text)


def _spans_of(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\ns ")
    except OSError:
        return 0


class LoggedScope:
    """A span of the log as a context manager. A worker has one thread and no recursion of the same scope."""

    __slots__ = ("_begin", "_log", "_name")

    def __init__(self, log: WorkerLog, name: int):
        self._log, self._name = log, name

    def __enter__(self) -> None:
        self._begin = time.monotonic_ns()

    def __exit__(self, *_) -> None:
        self._log.span(self._name, self._begin)


class LoggedFetch(LoggedScope):
    """The span of a batch, which also says for how long the worker waited for a processor."""

    __slots__ = ("_delay_before",)

    def __enter__(self) -> None:
        self._delay_before = run_delay_ns()
        super().__enter__()

    def __exit__(self, *_) -> None:
        after = run_delay_ns()
        is_known = after is not None and self._delay_before is not None
        self._log.span(self._name, self._begin, after - self._delay_before if is_known else None)


class LoggedQueue:
    """A queue of the worker, whose calls are spans."""

    def __init__(self, queue, log: WorkerLog, get: str = "", put: str = ""):
        self._queue, self._log = queue, log
        self._get_name = log.name(get) if get else -1
        self._put_name = log.name(put) if put else -1

    def get(self, *args, **kwargs):
        begin = time.monotonic_ns()
        item = self._queue.get(*args, **kwargs)
        self._log.span(self._get_name, begin)
        return item

    def put(self, *args, **kwargs):
        begin = time.monotonic_ns()
        self._queue.put(*args, **kwargs)
        self._log.span(self._put_name, begin)
        self._log.flush()

    def __getattr__(self, name):
        return getattr(self._queue, name)
