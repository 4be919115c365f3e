"""The control socket of a monitor: a file that only the owner of the process can open, and requests of one line of JSON each."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindtorch_v2 import _C

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_TRY_AGAIN = 0.02  # seconds between two tries to connect while too many others do
_LONGEST_REPLY = 1 << 24


class NoMonitor(ConnectionError):
    """The process has no monitor that this user may use, or does not exist."""


# --- Where the sockets are ---


def _bases() -> list[Path]:
    """Where the folder of a user may be, the best place first. Batch systems and sudo hand on an XDG_RUNTIME_DIR that does not exist."""
    bases = [os.environ.get("XDG_RUNTIME_DIR", "")]
    with contextlib.suppress(OSError):
        bases.append(tempfile.gettempdir())
    bases.append("/tmp")  # what is in it is looked at before it is used
    return [Path(base) for base in dict.fromkeys(bases) if os.path.isabs(base)]


def _folder_in(base: Path) -> Path:
    return base / f"mindtorch-{os.geteuid()}"


def _check_private(folder: Path) -> Path:
    """Raises PermissionError if another user could have put something there."""
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077:
        raise PermissionError(f"{folder} is not a folder that only this user can use: remove it")
    return folder


def _make_folder(base: Path) -> Path:
    folder = _folder_in(base)
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    return _check_private(folder)


def _folders() -> Iterator[Path]:
    """The folders of this user that exist."""
    for base in _bases():
        with contextlib.suppress(OSError):
            yield _check_private(_folder_in(base))


def _is_alive(path: Path) -> bool:
    """Whether somebody listens. Removes a file that a process has left behind."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.setblocking(False)
        try:
            connection.connect(os.fspath(path))
        except BlockingIOError:
            return True  # too many ask at this moment
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return False
        except OSError:
            return False
    return True


def monitored_processes() -> list[int]:
    """The processes of this user on this machine that have a monitor. Removes what others have left behind."""
    paths = {int(path.stem): path for folder in _folders() for path in folder.glob("*.sock") if path.stem.isdecimal()}
    return sorted(pid for pid, path in paths.items() if _is_alive(path))


# --- In the process with the monitor ---


class Control:
    """Calls `handle` with each request, as a dict, and with a function that sends the reply, which may be called later."""

    def __init__(self, handle: Callable[[dict, Callable[[dict], None]], None]) -> None:
        self._handle = handle
        self._is_open = threading.Event()
        monitored_processes()  # removes what others have left behind
        self._socket = self._opened()
        self._is_open.set()

    def _opened(self) -> _C.ControlSocket:
        failures = []
        for base in _bases():
            try:
                return _C.ControlSocket(os.fsencode(_make_folder(base) / f"{os.getpid()}.sock"), self._answer)
            except OSError as error:
                failures.append(str(error))
        raise OSError("; ".join(failures))

    def _answer(self, token: int, line: bytes) -> None:
        self._is_open.wait()

        def reply(answer: dict[str, Any]) -> None:
            self._socket.reply(token, json.dumps(answer).encode())

        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise TypeError("a request is a JSON object")
            self._handle(request, reply)
        except Exception as error:
            reply({"error": f"{type(error).__name__}: {error}"})

    def is_lost(self) -> bool:
        return self._socket.is_lost()

    def close(self) -> None:
        """Sends the replies that were given, and removes the file."""
        self._socket.close()


# --- In the process that asks ---


def ask(pid: int, request: dict, timeout: float = 60.0) -> dict:
    """The reply of the monitor in a process.

    Raises NoMonitor if there is none, ConnectionError if the process ends meanwhile, TimeoutError, and RuntimeError if it refuses.
    """
    deadline = time.monotonic() + timeout
    with _connected(pid, deadline) as connection:
        try:
            connection.sendall(json.dumps(request).encode() + b"\n")
            line = _read_all(connection, deadline)
        except (BrokenPipeError, ConnectionResetError):
            line = b""
    if not line:
        raise ConnectionError(f"process {pid} ended before it replied")
    try:
        reply = json.loads(line)
        error = reply.get("error")
    except (ValueError, AttributeError):
        raise RuntimeError(f"process {pid} sent a reply that cannot be read") from None
    if error is not None:
        raise RuntimeError(error)
    return reply


def _connected(pid: int, deadline: float) -> socket.socket:
    for folder in _folders():
        connection = _connection_to(folder / f"{pid}.sock", deadline)
        if connection is not None:
            return connection
    if not Path(f"/proc/{pid}").exists():
        raise NoMonitor(f"there is no process {pid}")
    raise NoMonitor(
        f"process {pid} has no monitor that this user may use: its program starts one with mindtorch_v2.profiler.monitor() "
        "(docs/monitor.md)"
    )


def _connection_to(path: Path, deadline: float) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        while True:
            try:
                connection.settimeout(_left(deadline))
                connection.connect(os.fspath(path))
                return connection
            except BlockingIOError:  # too many ask at this moment
                time.sleep(_TRY_AGAIN)
    except (FileNotFoundError, ConnectionRefusedError):
        _is_alive(path)
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("no reply")
    return left


def _read_all(connection: socket.socket, deadline: float) -> bytes:
    data = b""
    while len(data) < _LONGEST_REPLY:
        connection.settimeout(_left(deadline))
        piece = connection.recv(1 << 16)
        if not piece:
            break
        data += piece
    return data
