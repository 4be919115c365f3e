"""NVTX: how the ranges of a program and of its libraries reach the profiler.

NVTX looks for a tool once, at the first call that a library makes, and takes the one that an environment variable names. So the variable
must name the profiler before that call; it is set when mindtorch_v2.profiler is imported, unless it names another tool.
"""

import os

from mindtorch_v2 import _C
from mindtorch_v2.base.warnings import warn

_VARIABLE = "NVTX_INJECTION64_PATH"


def be_found():
    """Lets libraries that have not made an NVTX call yet find the profiler. Their calls cost little while no profile asks for them."""
    if _names_a_profiler(os.environ.get(_VARIABLE, "")):
        os.environ[_VARIABLE] = _C.nvtx_injection_path()


def _names_a_profiler(path):
    """Whether it is unset, or was inherited from a process that may have had another copy of this library."""
    return not path or os.path.basename(path).startswith("libmindtorch.")


def state() -> str:
    """Whether ranges reach the profiler, and what to do if they do not."""
    path = os.environ.get(_VARIABLE, "")
    connected = _C.nvtx_connected_libraries()
    if connected > 0:
        return f"active: {connected} {'library reports' if connected == 1 else 'libraries report'} ranges"
    if path != _C.nvtx_injection_path():
        return f"inactive: {_VARIABLE} names another tool ({path}); unset it before the program starts"
    return "waiting for the first NVTX call of a library; import mindtorch_v2.profiler before it is made"


def warn_if_lost():
    """For a profile that asks for ranges: tells the user if they cannot reach it."""
    found = state()
    if found.startswith("inactive: "):
        warn(f"enable_nvtx: ranges are not recorded. {found.removeprefix('inactive: ')}.")
