"""Finds, checks and loads the built bridge."""

import ctypes
from pathlib import Path

from mindtorch_v2._C import _set_tracing_check
from mindtorch_v2.torch_bridge import layout
from mindtorch_v2.torch_bridge.sessions import SessionHooks


class NotUsableError(Exception):
    """The reason why the bridge cannot be used, and what to do about it."""


class Library:
    """The loaded bridge. It is never unloaded, because torch may call it until the process ends."""

    def __init__(self, path: Path, torch_version: str):
        self.path = path
        self._calls = _declared(ctypes.CDLL(str(path)))
        _check_release(self._calls.mindtorch_torch_version().decode(), torch_version)
        problem = self._calls.mindtorch_torch_activate()
        if problem is not None:
            raise NotUsableError(f"{problem.decode()} ({layout.BUILD_COMMAND})")
        self.description = f"active: PyTorch {torch_version}"
        self._hooks = SessionHooks(self._calls)
        _set_tracing_check(ctypes.cast(self._calls.mindtorch_torch_is_tracing, ctypes.c_void_p).value)


def load(torch) -> Library:
    version = str(torch.__version__)
    try:
        path = layout.bridge_path(torch)
        if path.exists():
            return Library(path, version)
    except OSError as error:
        raise NotUsableError(f"the bridge cannot be loaded: {error}; rebuild it: {layout.BUILD_COMMAND}") from error
    raise NotUsableError(_why_missing(version))


def _why_missing(version: str) -> str:
    built = layout.built_versions()
    if version in built:
        return f"the bridge is out of date: mindtorch_v2 or PyTorch has changed since; rebuild it: {layout.BUILD_COMMAND}"
    if built:
        return f"the bridge is built for PyTorch {', '.join(built)}, this is {version}; rebuild it: {layout.BUILD_COMMAND}"
    return f"the bridge to PyTorch is not built; build it: {layout.BUILD_COMMAND}"


def _check_release(built_for: str, torch_version: str) -> None:
    """Checks that a bridge in the wrong folder does not call another torch."""
    release = torch_version.partition("+")[0]
    if not release.startswith(built_for):
        raise NotUsableError(f"the bridge was built for PyTorch {built_for}, this is {release}; rebuild it: {layout.BUILD_COMMAND}")


def _declared(calls: ctypes.CDLL) -> ctypes.CDLL:
    calls.mindtorch_torch_activate.restype = ctypes.c_char_p
    calls.mindtorch_torch_version.restype = ctypes.c_char_p
    calls.mindtorch_torch_listen.restype = None
    calls.mindtorch_torch_leave_device_memory.restype = None
    calls.mindtorch_torch_retake_device_memory.restype = None
    return calls
