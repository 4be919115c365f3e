"""Finds, checks and loads the built bridge."""

import ctypes
from pathlib import Path
from types import SimpleNamespace

from mindtorch_v2._C import _set_torchs_turn
from mindtorch_v2.torch_bridge import layout, ready, trust
from mindtorch_v2.torch_bridge.functions import argument_source
from mindtorch_v2.torch_bridge.sessions import SessionHooks

# What the bridge exports: functions with the types of their results, and numbers.
_FUNCTIONS = {
    "mindtorch_torch_activate": ctypes.c_char_p,
    "mindtorch_torch_version": ctypes.c_char_p,
    "mindtorch_torch_listen": None,
    "mindtorch_torch_ask_for_arguments": None,
    "mindtorch_torch_takes_scopes": ctypes.c_int,
    "mindtorch_torch_leave_memory_reports": None,
    "mindtorch_torch_retake_memory_reports": None,
}
_NUMBERS = ("mindtorch_torch_wants_modules", "mindtorch_torch_wants_owners")


class NotUsableError(Exception):
    """The reason why the bridge cannot be used, and what to do about it."""


class Library:
    """The loaded bridge. It is never unloaded, because torch may call it until the process ends."""

    def __init__(self, path: Path, torch_version: str):
        self.path = path
        self._calls = _look_up(path)
        _check_release(self._calls.mindtorch_torch_version().decode(), torch_version)
        try:
            arguments = argument_source()
        except AttributeError as error:  # a release that has moved what is looked up in its Python code
            raise NotUsableError(f"this version of mindtorch_v2 does not know PyTorch {torch_version}: {error}") from error
        problem = self._calls.mindtorch_torch_activate()
        if problem is not None:
            raise NotUsableError(f"{problem.decode()} ({layout.BUILD_COMMAND})")
        self.description = f"active: PyTorch {torch_version}"
        self._hooks = SessionHooks(self._calls)
        self._calls.mindtorch_torch_ask_for_arguments(ctypes.c_void_p(arguments))
        _set_torchs_turn(ctypes.cast(self._calls.mindtorch_torch_takes_scopes, ctypes.c_void_p).value)


def load(torch) -> Library:
    """The bridge of the package, or else the one that was built on this machine."""
    version = str(torch.__version__)
    problem = None
    for find in (ready.find, _built):
        try:
            path = find(torch)
            if path is not None:
                return Library(path, version)
        except OSError as error:
            problem = f"the bridge cannot be loaded: {error}; rebuild it: {layout.BUILD_COMMAND}"
    raise NotUsableError(problem or _why_missing(version))


def _built(torch) -> Path | None:
    path = layout.bridge_path(torch)
    if not path.exists():
        return None
    if (problem := trust.problem_of(path)) is not None:
        raise NotUsableError(
            f"the bridge {path} is not loaded, because it could be somebody else's: {problem}; "
            "make it yours alone (chown, chmod go-w), or name a folder of your own with MINDTORCH_LIBRARY_PATH=torch_bridge=FOLDER"
        )
    return path


def _why_missing(version: str) -> str:
    built = layout.built_versions()
    if version in built:
        return f"the bridge is out of date: mindtorch_v2 or PyTorch has changed since; rebuild it: {layout.BUILD_COMMAND}"
    if built:
        return f"the bridge is built for PyTorch {', '.join(built)}, this is {version}; rebuild it: {layout.BUILD_COMMAND}"
    return f"the bridge to PyTorch is not built; build it: {layout.BUILD_COMMAND}"


def _check_release(built_for: str, torch_version: str) -> None:
    """Checks that a bridge in the wrong folder does not call another torch. Patch releases may share a bridge."""
    if ready.minor_release(built_for) != ready.minor_release(torch_version):
        release = torch_version.partition("+")[0]
        raise NotUsableError(f"the bridge was built for PyTorch {built_for}, this is {release}; rebuild it: {layout.BUILD_COMMAND}")


def _look_up(path: Path) -> SimpleNamespace:
    """Looks up all that the bridge exports before any of it is used, because another version of the bridge may lack a part."""
    library = ctypes.CDLL(str(path))
    try:
        functions = {name: getattr(library, name) for name in _FUNCTIONS}
        numbers = {name: ctypes.c_uint32.in_dll(library, name).value for name in _NUMBERS}
    except (AttributeError, ValueError) as error:  # load() handles this like a file that cannot be loaded
        raise OSError(str(error)) from error
    for name, function in functions.items():
        function.restype = _FUNCTIONS[name]
    return SimpleNamespace(**functions, **numbers)
