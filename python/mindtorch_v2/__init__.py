"""torch.profiler's API, and torch's names for the small tensor runtime beside it: `import mindtorch_v2 as torch`."""

import importlib as _importlib
import sys as _sys

from mindtorch_v2 import _C as _C
from mindtorch_v2._C import ArgumentAssertionError as ArgumentAssertionError

__version__ = "0.1.0"

# A free-threaded Python enables its GIL for _C, which relies on it, unless it was told not to.
if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError("mindtorch_v2 needs the GIL, which PYTHON_GIL=0 or -X gil=0 keeps disabled: run Python without it")

_SUBMODULES = frozenset({"autograd", "profiler", "torch_bridge"})
_OF_THE_RUNTIME = frozenset({"_runtime", "cuda", "nn", "npu", "optim", "random", "serialization"})


def _runtime_names():
    """The names that the embedded runtime gives this module, which has them from then on; None if the package is without the runtime."""
    try:
        names = _importlib.import_module(f"{__name__}._torch_names").NAMES
    except ModuleNotFoundError as error:
        if error.name not in (f"{__name__}._torch_names", f"{__name__}._runtime"):
            raise
        return None
    if "Tensor" not in globals():
        globals().update(names)
    return names


def __getattr__(name):
    """Imports a submodule when it is first used, and the embedded runtime with the first of its names."""
    if name in _SUBMODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    missing = f"module '{__name__}' has no attribute '{name}'"
    if name.startswith("__"):
        raise AttributeError(missing)
    if name in _OF_THE_RUNTIME:
        try:
            return _importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name not in (f"{__name__}.{name}", f"{__name__}._runtime"):
                raise
            raise AttributeError(f"{missing}: this package was built without the embedded runtime") from error
    if name in ("load", "save"):
        return getattr(__getattr__("serialization"), name)
    names = _runtime_names()
    if names is None:
        raise AttributeError(f"{missing}: this package was built without the embedded runtime")
    if name not in names:
        raise AttributeError(missing)
    return names[name]


def __dir__():
    names = _runtime_names()
    return sorted({*globals(), *_SUBMODULES, *(() if names is None else (*names, *_OF_THE_RUNTIME, "load", "save"))})
