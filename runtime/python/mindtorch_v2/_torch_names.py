"""The names that the runtime gives the package, as torch has them. mindtorch_v2 imports this module when one of them is first used."""

from mindtorch_v2 import _creation, _functions, _runtime, random
from mindtorch_v2 import _tensor as _tensor  # completes Tensor
from mindtorch_v2._tensor_str import set_printoptions
from mindtorch_v2.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = ["NAMES"]

_OF_THE_MODULE = (
    "Generator",
    "Size",
    "Tensor",
    "can_cast",
    "default_generator",
    "device",
    "dtype",
    "from_dlpack",
    "get_default_dtype",
    "is_grad_enabled",
    "promote_types",
    "set_default_dtype",
    "tensor",
)

# Every op of the dispatcher is a function, and every element type has a name; what follows may refine them.
NAMES = {
    **_runtime.ops,
    **_runtime.dtypes,
    **{name: getattr(_runtime, name) for name in _OF_THE_MODULE},
    **{name: getattr(module, name) for module in (_creation, _functions) for name in module.__all__},
    **{name: getattr(random, name) for name in ("get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state")},
    "contiguous_format": 0,
    "enable_grad": enable_grad,
    "inference_mode": no_grad,
    "no_grad": no_grad,
    "preserve_format": 1,
    "set_grad_enabled": set_grad_enabled,
    "set_printoptions": set_printoptions,
    "strided": 0,  # the only layout
}
