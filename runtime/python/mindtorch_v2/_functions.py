"""Functions of torch that are made of other ops and not known to the dispatcher. Those with a tensor as first argument are methods too."""

import math

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor

_ops = _runtime.ops
_dtypes = _runtime.dtypes

inf = math.inf
nan = math.nan
pi = math.pi
e = math.e

__all__ = ["e", "inf", "nan", "pi"]


def _function(function):
    __all__.append(function.__name__)
    return function


def _method(function):
    """A function whose first argument is a tensor."""
    setattr(Tensor, function.__name__, function)
    return _function(function)


# ---- questions ----


@_function
def is_tensor(obj):
    """True for tensors."""
    return isinstance(obj, Tensor)


@_function
def is_floating_point(input):
    """True for tensors of floating point numbers."""
    return input.is_floating_point()


@_function
def numel(input):
    """Number of elements."""
    return input.numel()


@_method
def equal(input, other):
    """True if sizes and elements are the same."""
    return input.shape == other.shape and bool((input == other).all())


@_method
def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Element by element: |input - other| <= atol + rtol * |other|."""
    close = (input == other) | ((input - other).abs() <= atol + rtol * other.abs()) & input.isfinite() & other.isfinite()
    return close | (input.isnan() & other.isnan()) if equal_nan else close


@_method
def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """True if all elements are close to each other."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@_function
def result_type(a, b):
    """The type of the result of an operation with both."""
    return (_ops["empty_like"](a) * b).dtype if isinstance(a, Tensor) else (_ops["empty_like"](b) * a).dtype


# ---- arithmetic ----


@_method
def floor_divide(input, other):
    """The quotient rounded down. Integers go through float64: exact up to 2**53."""
    kind = _arithmetic_type(input, other)
    if not kind.is_floating_point and not _nowhere_zero(other):
        raise RuntimeError("ZeroDivisionError")
    return (_as_double(input) / _as_double(other)).floor().to(kind)


@_method
def remainder(input, other):
    """The remainder of floor_divide(). It has the sign of the divisor."""
    return input - floor_divide(input, other) * other


def _arithmetic_type(*values):
    """The type of a result: the common type of the tensors, or a floating point type if a number or a tensor is floating point."""
    kind = _dtypes["bool"]
    for value in values:
        if isinstance(value, Tensor):
            kind = _runtime.promote_types(kind, value.dtype)
    if not kind.is_floating_point and any(isinstance(v, float) for v in values):
        return _runtime.get_default_dtype()
    return _dtypes["int64"] if kind is _dtypes["bool"] else kind


def _nowhere_zero(value):
    return bool((value != 0).all()) if isinstance(value, Tensor) else value != 0


def _as_double(value):
    return value.to(_dtypes["float64"]) if isinstance(value, Tensor) else value


@_method
def outer(input, vec2):
    """All products of an element of the first and one of the second."""
    return input.unsqueeze(1) * vec2.unsqueeze(0)


@_method
def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The standard deviation."""
    return _spread("std", input, dim, unbiased, keepdim, correction)


@_method
def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
    """The variance, by default divided by n - 1."""
    return _spread("var", input, dim, unbiased, keepdim, correction)


def _spread(name, input, dim, unbiased, keepdim, correction):
    if isinstance(dim, bool):  # var(unbiased)
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return _ops[name](input, dim, correction=correction, keepdim=keepdim)


@_method
def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The vector norm of order p over all or some dimensions."""
    if p in ("fro", None):
        p = 2
    return _ops["linalg_vector_norm"](input, float(p), dim, keepdim, dtype=dtype)


# ---- parts ----


@_method
def nonzero(input, *, as_tuple=False):
    """Where elements are not zero: a row of indices for each, or one tensor for each dimension."""
    return tuple(_ops["nonzero_numpy"](input)) if as_tuple else _ops["nonzero"](input)


@_method
def take_along_dim(input, indices, dim):
    """The elements at the indices along one dimension."""
    return input.gather(dim, indices)


@_method
def unflatten(input, dim, sizes):
    """One dimension as several."""
    dim = dim % input.dim()
    return input.reshape(*input.shape[:dim], *sizes, *input.shape[dim + 1 :])


@_method
def movedim(input, source, destination):
    """Moves dimensions to other positions."""
    source = [source] if isinstance(source, int) else list(source)
    destination = [destination] if isinstance(destination, int) else list(destination)
    source, destination = [d % input.dim() for d in source], [d % input.dim() for d in destination]
    order = [d for d in range(input.dim()) if d not in source]
    for to, d in sorted(zip(destination, source, strict=True)):
        order.insert(to, d)
    return input.permute(order)


@_method
def argsort(input, dim=-1, descending=False):
    """The order of the elements along a dimension."""
    return sort(input, dim, descending)[1]


@_method
def sort(input, dim=-1, descending=False):
    """The elements in order along a dimension, and where they were."""
    return _ops["topk"](input, input.size(dim), dim, descending, True)


@_function
def meshgrid(*tensors, indexing="ij"):
    """Coordinates of a grid: one tensor of the grid's shape for each axis."""
    tensors = list(tensors[0]) if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else list(tensors)
    if indexing == "xy" and len(tensors) >= 2:
        second, first, *others = meshgrid(tensors[1], tensors[0], *tensors[2:])
        return first, second, *others
    shape = [t.numel() for t in tensors]
    return tuple(t.reshape([-1 if i == d else 1 for i in range(len(shape))]).expand(shape) for d, t in enumerate(tensors))


@_method
def broadcast_to(input, size):
    """A view of a larger shape."""
    return input.expand(size)


@_function
def broadcast_tensors(*tensors):
    """Views of all tensors in the shape they have together."""
    shape = ()
    for t in tensors:
        shape = _broadcast_shape(shape, t.shape)
    return tuple(t.expand(shape) for t in tensors)


def _broadcast_shape(a, b):
    longest = max(len(a), len(b))
    a, b = (1,) * (longest - len(a)) + tuple(a), (1,) * (longest - len(b)) + tuple(b)
    return tuple(y if x == 1 else x for x, y in zip(a, b, strict=True))


# ---- other names ----

_ALIASES = {
    "absolute": "abs",
    "clip": "clamp",
    "clip_": "clamp_",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "subtract": "sub",
    "swapaxes": "transpose",
    "swapdims": "transpose",
    "true_divide": "div",
}
for _alias, _name in _ALIASES.items():
    globals()[_alias] = _ops[_name]
    __all__.append(_alias)
    if hasattr(Tensor, _name):
        setattr(Tensor, _alias, _ops[_name])


def _operator(function):
    """Operators such as a // b, in which either operand may be the tensor."""

    def forward(self, other):
        return function(self, other) if isinstance(other, Tensor | int | float) else NotImplemented

    def reflected(self, other):
        return function(other, self) if isinstance(other, int | float) else NotImplemented

    return forward, reflected


Tensor.__floordiv__, Tensor.__rfloordiv__ = _operator(floor_divide)
Tensor.__mod__, Tensor.__rmod__ = _operator(remainder)


def _view_as(self, other):
    return self.view(other.shape)


def _reshape_as(self, other):
    return self.reshape(other.shape)


def _expand_as(self, other):
    return self.expand(other.shape)


Tensor.view_as, Tensor.reshape_as, Tensor.expand_as = _view_as, _reshape_as, _expand_as
