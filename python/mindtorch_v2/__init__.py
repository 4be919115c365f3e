"""torch.profiler's API with a small tensor runtime: `import mindtorch_v2 as torch`."""

# ruff: noqa: E402, F401  (names for users; what is imported last builds on what is imported first)

import importlib as _importlib
import sys as _sys

from mindtorch_v2 import _C
from mindtorch_v2._C import (
    ArgumentAssertionError,
    Generator,
    Size,
    Tensor,
    can_cast,
    default_generator,
    device,
    dtype,
    from_dlpack,
    get_default_dtype,
    is_grad_enabled,
    promote_types,
    set_default_dtype,
    tensor,
)

__version__ = "0.1.0"

# A free-threaded Python enables its GIL for _C, which relies on it, unless it was told not to.
if not getattr(_sys, "_is_gil_enabled", lambda: True)():
    raise ImportError("mindtorch_v2 needs the GIL, which PYTHON_GIL=0 or -X gil=0 keeps disabled: run Python without it")

# Every op of the dispatcher is a function here, and every element type; what follows may refine them.
globals().update(_C.ops)
globals().update(_C.dtypes)

from mindtorch_v2 import _tensor as _tensor  # completes Tensor
from mindtorch_v2._creation import *  # noqa: F403
from mindtorch_v2._functions import *  # noqa: F403
from mindtorch_v2._tensor_str import set_printoptions
from mindtorch_v2.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled
from mindtorch_v2.random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state

inference_mode = no_grad
strided = 0  # the only layout
contiguous_format, preserve_format = 0, 1

_SUBMODULES = frozenset({"autograd", "cuda", "nn", "npu", "optim", "profiler", "random", "serialization"})
_LAZY = {"load": "serialization", "save": "serialization"}


def __getattr__(name):
    """Imports a submodule when it is first used."""
    if name in _SUBMODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY:
        return getattr(_importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__():
    return sorted(set(globals()) | _SUBMODULES | set(_LAZY))
