"""Methods of Tensor that are written in Python: conversions, backward, hooks, copies."""

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor

_ops = _runtime.ops
_dtypes = _runtime.dtypes


class RemovableHandle:
    """Removes a hook, by remove() or as a context manager."""

    def __init__(self, remove):
        self._remove = remove

    def remove(self):
        """Removes the hook. Further calls do nothing."""
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


# ---- autograd ----


def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of this tensor to the `.grad` of all leaves it was computed from."""
    if inputs is None:
        _runtime.backward((self,), () if gradient is None else (gradient,), retain_graph, create_graph)
        return
    from mindtorch_v2 import autograd

    autograd.backward(self, gradient, retain_graph, create_graph, inputs)


def register_hook(self, hook):
    """Calls hook(grad) whenever the gradient of this tensor is computed. A returned tensor replaces the gradient."""
    number = _runtime.register_hook(self, hook)
    return RemovableHandle(lambda: _runtime.remove_hook(self, number))


# ---- types and devices ----


def _conversion(name):
    dtype = _dtypes[name]

    def convert(self):
        return self.to(dtype)

    convert.__doc__ = f"The tensor as {dtype}."
    return convert


def cpu(self):
    """The tensor in host memory; itself if it is there."""
    return self.to("cpu")


def npu(self, device=None, non_blocking=False):
    """The tensor on an NPU; itself if it is there."""
    return self.to(_npu_device(device), non_blocking=non_blocking)


def _npu_device(device):
    if device is None:
        return "npu"
    return f"npu:{device}" if isinstance(device, int) else device


def type_(self, dtype=None):
    """The name of the tensor's class in torch ("torch.FloatTensor"), or the tensor as another type."""
    if dtype is not None:
        return self.to(dtype)
    titles = {"float32": "Float", "float64": "Double", "int64": "Long", "int32": "Int", "uint8": "Byte", "bool": "Bool"}
    place = "torch" if self.device.type == "cpu" else f"torch.{self.device.type}"
    return f"{place}.{titles[str(self.dtype).removeprefix('torch.')]}Tensor"


def type_as(self, other):
    """The tensor as the type of another."""
    return self.to(other.dtype)


# ---- other libraries ----


def numpy(self, *, force=False):
    """A NumPy array of the same memory. With force=True also for tensors that require gradients or live on a device."""
    import numpy as np

    return np.asarray(_runtime.array_source(self, force))


def array(self, dtype=None, copy=None):
    """The result of np.asarray(tensor), which shares the memory if the type allows it."""
    result = self.numpy()
    if dtype is not None and result.dtype != dtype:
        if copy is False:
            raise ValueError(f"cannot make an array of {dtype} from a tensor of {self.dtype} without a copy")
        return result.astype(dtype)
    return result.copy() if copy else result


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule of the same memory."""
    if stream not in (None, -1):
        raise BufferError("this device has no streams that other libraries could wait for")
    if dl_device is not None and tuple(dl_device) != _runtime.dlpack_device(self):
        raise BufferError(f"the tensor is not on the device {dl_device} that was asked for")
    return _runtime.to_dlpack(self.clone() if copy else self, max_version)


def dlpack_device(self):
    """DLPack's numbers of the device's kind and of the device."""
    return _runtime.dlpack_device(self)


# ---- tensors like this one ----


def _new(name):
    op = _ops[name]

    def make(self, *args, dtype=None, device=None, requires_grad=False):
        return op(*args, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)

    make.__name__ = f"new_{name}"
    make.__doc__ = f"torch.{name}() with the type and device of this tensor."
    return make


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """torch.tensor() with the type and device of this tensor."""
    return _runtime.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


def deepcopy(self, memo):
    """A copy with its own memory; only leaves can be copied, as in torch."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage."
        )
    if id(self) in memo:
        return memo[id(self)]
    from copy import deepcopy as copy_of  # which keeps what it copies alive: the memo knows objects by their address

    result = _runtime.make_subclass(type(self), self.detach().clone(), self.requires_grad)
    memo[id(self)] = result
    if self.grad is not None:
        result.grad = copy_of(self.grad, memo)
    if self.__dict__:
        result.__dict__.update(copy_of(self.__dict__, memo))
    return result


def reduce_ex(self, protocol):
    """Pickles the tensor as data. Prefer torch.save for files: loading such a file never runs code."""
    data = _runtime.bytes_of(self.detach().cpu().contiguous())
    return _rebuild, (type(self), data, tuple(self.shape), self.dtype, str(self.device), self.requires_grad)


def _rebuild(cls, data, shape, dtype, device, requires_grad):
    return _runtime.make_subclass(cls, _runtime.tensor_of_bytes(data, dtype, shape).to(device), requires_grad)


def repr_(self):
    from mindtorch_v2 import _tensor_str

    return _tensor_str.tensor_str(self)


def format_(self, spec):
    """f"{x:.3f}" of a tensor with one number formats the number."""
    return self.item().__format__(spec) if self.dim() == 0 else object.__format__(self, spec)


_METHODS = {
    "backward": backward,
    "register_hook": register_hook,
    "cpu": cpu,
    "npu": npu,
    "type": type_,
    "type_as": type_as,
    "numpy": numpy,
    "__array__": array,
    "__dlpack__": dlpack,
    "__dlpack_device__": dlpack_device,
    "new_tensor": new_tensor,
    "__deepcopy__": deepcopy,
    "__reduce_ex__": reduce_ex,
    "__repr__": repr_,
    "__format__": format_,
    **{f"new_{name}": _new(name) for name in ("zeros", "ones", "empty", "full")},
    **{name: _conversion(name) for name in ("float", "double", "long", "int", "bool")},
    "byte": _conversion("uint8"),
}

for _name, _method in _METHODS.items():
    setattr(Tensor, _name, _method)
# An array on the left of an operator lets the tensor do the work.
Tensor.__array_priority__ = 1000
