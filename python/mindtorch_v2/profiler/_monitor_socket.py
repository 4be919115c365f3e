"""The control socket of a monitor: a file that only the owner of the process can open, and requests of one line of JSON each."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import struct
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_LONGEST_REQUEST = 1 << 16


def socket_folder() -> Path:
    """The folder of the sockets of this user. Raises PermissionError if another user could have put something there."""
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    folder = Path(base) / f"mindtorch-{os.geteuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077:
        raise PermissionError(f"{folder} is not a folder that only this user can use: remove it, or set XDG_RUNTIME_DIR")
    return folder


def socket_path(pid: int) -> Path:
    return socket_folder() / f"{pid}.sock"


def monitored_processes() -> list[int]:
    """The processes of this user on this machine that have a monitor."""
    found = [int(path.stem) for path in socket_folder().glob("*.sock") if path.stem.isdigit()]
    return sorted(pid for pid in found if Path(f"/proc/{pid}").exists())


def _peer_uid(connection: socket.socket) -> int:
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[1]


class ControlSocket:
    """Answers requests on a thread of its own. `answer` gets the request as a dict and returns the reply as one."""

    def __init__(self, answer: Callable[[dict], dict]):
        self._answer = answer
        self.path = socket_path(os.getpid())
        self.path.unlink(missing_ok=True)  # of a process that had this number before
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self._socket.bind(str(self.path))
        finally:
            os.umask(before)
        self._socket.listen(8)
        self._thread = threading.Thread(target=self._serve, name="mindtorch control", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._talk, args=(connection,), name="mindtorch control", daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(60)
            connection.sendall(json.dumps(self._reply(connection)).encode() + b"\n")

    def _reply(self, connection: socket.socket) -> dict:
        line = _line(connection)  # in any case: closing with unread bytes would take the reply from the other side
        if _peer_uid(connection) != os.geteuid():
            return {"error": "only the owner of the process may do this"}
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise TypeError("a request is a JSON object")
            return self._answer(request)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.path.unlink(missing_ok=True)


def _line(connection: socket.socket) -> bytes:
    data = b""
    while not data.endswith(b"\n"):
        piece = connection.recv(4096)
        if not piece or len(data) > _LONGEST_REQUEST:
            break
        data += piece
    return data


def ask(pid: int, request: dict, timeout: float = 60.0) -> dict:
    """The reply of the monitor in a process. Raises ConnectionError if there is none, RuntimeError if it refuses."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        try:
            connection.connect(str(socket_path(pid)))
        except (FileNotFoundError, ConnectionRefusedError):
            raise ConnectionError(f"process {pid} has no monitor that this user may use") from None
        connection.sendall(json.dumps(request).encode() + b"\n")
        reply = json.loads(_line_of_reply(connection))
    if "error" in reply:
        raise RuntimeError(reply["error"])
    return reply


def _line_of_reply(connection: socket.socket) -> bytes:
    data = b""
    while piece := connection.recv(1 << 16):
        data += piece
    return data
