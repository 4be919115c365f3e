"""Parameters and buffers of modules."""

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor


class Parameter(Tensor):
    """A tensor that a module counts among its parameters when it is assigned as an attribute."""

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = _runtime.ops["empty"]((0,))
        return _runtime.make_subclass(cls, data, requires_grad)

    __repr__ = Tensor.__repr__
    __hash__ = Tensor.__hash__


class Buffer(Tensor):
    """A tensor that a module counts among its buffers when it is assigned as an attribute."""

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = _runtime.ops["empty"]((0,))
        buffer = _runtime.make_subclass(cls, data, False)
        buffer.persistent = persistent
        return buffer
