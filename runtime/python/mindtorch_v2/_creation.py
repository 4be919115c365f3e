"""Functions that make tensors and are not ops."""

import sys

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor

__all__ = ["as_tensor", "asarray", "bernoulli", "from_numpy", "frombuffer", "normal", "randint", "scalar_tensor"]

_ops = _runtime.ops


def as_tensor(data, dtype=None, device=None):
    """The data as a tensor, without a copy where that is possible."""
    if isinstance(data, Tensor):
        return data.to(device=device or data.device, dtype=dtype or data.dtype)
    if hasattr(data, "__array_interface__"):
        shared = _runtime.from_buffer(data)
        return shared.to(device=device or shared.device, dtype=dtype or shared.dtype)
    return _runtime.tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(ndarray):
    """A tensor that shares the memory of a NumPy array."""
    numpy = sys.modules.get("numpy")  # if it was not imported, there are no arrays
    if numpy is None or not isinstance(ndarray, numpy.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return _runtime.from_buffer(ndarray)


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor of one dimension that shares the memory of anything with the buffer protocol."""
    letters = {"float32": "f", "float64": "d", "int64": "q", "int32": "i", "uint8": "B", "bool": "?"}
    size = dtype.itemsize
    view = memoryview(buffer).cast("B")[offset:]
    whole = len(view) // size if count < 0 else count
    if whole == 0 or whole * size > len(view):
        raise ValueError(f"both buffer length ({len(view)}) and count ({count}) must not be 0, and must fit the elements of {size} bytes")
    tensor = _runtime.from_buffer(view[: whole * size].cast(letters[str(dtype).removeprefix("torch.")]))
    return tensor.requires_grad_(requires_grad)


def scalar_tensor(value, *, dtype=None, device=None, requires_grad=False):
    """A tensor of one number and no dimensions, by default of the default type."""
    return _ops["full"]((), value, dtype=dtype or _runtime.get_default_dtype(), device=device, requires_grad=requires_grad)


def randint(*args, low=None, high=None, size=None, **options):
    """randint([low=0,] high, size): integers from low to high - 1."""
    args = list(args)
    if args and isinstance(args[-1], tuple | list) and size is None:
        size = args.pop()
    if high is None:
        high = args.pop() if args else None
    if low is None:
        low = args.pop() if args else 0
    if args or high is None or size is None:
        raise TypeError("randint() received an invalid combination of arguments; expected (int low, int high, tuple of ints size)")
    return _ops["randint"](low, high, size, **options)


def normal(mean=0.0, std=1.0, size=None, *, generator=None, dtype=None, device=None):
    """Normally distributed numbers; mean and std are numbers, or tensors of one shape."""
    if isinstance(mean, Tensor) or isinstance(std, Tensor):
        like = mean if isinstance(mean, Tensor) else std
        return _ops["empty_like"](like).normal_(generator=generator) * std + mean
    return _ops["empty"](size, dtype=dtype, device=device).normal_(mean, std, generator=generator)


def bernoulli(input, p=None, *, generator=None):
    """Ones with probability p. Without p, the elements of the tensor are the probabilities."""
    if p is not None:
        return _ops["empty_like"](input).bernoulli_(p, generator=generator)
    return (_ops["empty_like"](input).uniform_(generator=generator) < input).to(input.dtype)


Tensor.bernoulli = bernoulli
