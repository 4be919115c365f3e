"""Records real PyTorch: ops, autograd nodes, annotations and CPU memory of an unchanged program.

The bridge is a small shared library that belongs to one release of torch. A wheel contains bridges for the releases that were known when it
was made. For another release, the first profile builds one, once, which takes a C++ compiler and about a minute. It can be built before:

    python -m mindtorch_v2.torch_bridge build
"""

import sys
import threading

__all__ = ["activate", "activate_if_possible", "is_active"]

_lock = threading.Lock()
_active = None  # the loaded library, once it is
_not_built = None  # why the bridge could not be built; it is tried once in a process


def activate_if_possible() -> str:
    """Lets profiles record torch's ops if torch is imported and there is a bridge for it. Builds none.

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


def activate(say=None) -> str:
    """Does the same as activate_if_possible(), and builds the bridge first if there is none. Says so through `say`, or on stderr."""
    global _not_built
    state = activate_if_possible()
    if _active is not None or "torch" not in sys.modules:
        return state
    from mindtorch_v2.torch_bridge import compiler, layout

    try:
        if _not_built is None:
            compiler.build_if_needed(say or _say_on_stderr)
    except (compiler.BuildError, OSError) as problem:
        first, *more = str(problem).splitlines()
        _not_built = f"{first} try {layout.BUILD_COMMAND}" if more else first
    return activate_if_possible() if _not_built is None else f"inactive: {_not_built}"


def _say_on_stderr(line: str) -> None:
    print(f"mindtorch_v2: {line}", file=sys.stderr, flush=True)


def is_active() -> bool:
    """True once profiles record torch's ops."""
    return _active is not None
