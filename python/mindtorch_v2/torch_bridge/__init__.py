"""Records real PyTorch: ops, autograd nodes, annotations and CPU memory of an unchanged program.

The bridge is a small shared library that has to be built against the installed torch, once:

    python -m mindtorch_v2.torch_bridge build

From then on `mindtorch_v2.profiler.profile` loads it by itself whenever torch has been imported.
"""

import sys
import threading

__all__ = ["activate_if_possible", "is_active"]

_lock = threading.Lock()
_active = None  # the loaded library, once it is


def activate_if_possible() -> str:
    """Lets profiles record torch's ops if torch is imported and the bridge is built for it.

    Returns what profiler.status() shows: "active: ..." or "inactive: ..." with what to do about it. Never raises; cheap once active.
    """
    global _active
    if _active is not None:
        return _active.description
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "__version__"):
        return "inactive: torch is not imported"
    from mindtorch_v2.torch_bridge import library

    with _lock:
        if _active is None:
            try:
                _active = library.load(torch)
            except library.NotUsableError as problem:
                return f"inactive: {problem}"
    return _active.description


def is_active() -> bool:
    """True once profiles record torch's ops."""
    return _active is not None
