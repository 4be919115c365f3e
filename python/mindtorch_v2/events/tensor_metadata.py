"""_TensorMetadata: a tensor that was an argument of an op or belongs to a module or an optimizer, with the attributes of torch's class."""

import sys

from mindtorch_v2.base.enums import DeviceType

__all__ = ["_Owners", "_TensorMetadata"]

# torch's types and layouts by their numbers in C++.
_DTYPES = """uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8 quint8 qint32 bfloat16 quint4x2
quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz uint16 uint32 uint64""".split()
_LAYOUTS = "strided sparse_coo sparse_csr _mkldnn sparse_csc sparse_bsr sparse_bsc jagged".split()


def _torch():
    """torch if the program uses it, else None."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "_C") else None


def torchs_class(name):
    """torch's class of a part of the profiler; None without torch."""
    torch = _torch()
    return getattr(torch._C._profiler, name, None) if torch is not None else None


def torchs_device(device_type, index):
    """torch's device, or the pair of type and index without torch. The CPU has no index."""
    torch = _torch()
    name = DeviceType(device_type).name.lower()
    if torch is None:
        return name, index
    return torch.device("cpu") if name == "cpu" else torch.device({"npu": "privateuseone"}.get(name, name), index)


def _named(names, number):
    """The attribute of torch whose name has this number; its name without torch."""
    name = names[number] if number < len(names) else None
    torch = _torch()
    return name if torch is None or name is None else getattr(torch, name, None)


class _TensorMetadata:
    """A tensor at one moment. isinstance() takes it for torch's class of this name.

    `id` is the same for what the program sees as one tensor, `allocation_id` for one stretch of memory from its allocation to its free.
    They, and the addresses, are None if identities were not recorded, which needs record_shapes and profile_memory.
    """

    def __init__(self, values):
        self.sizes, self.strides, self._dtype, self._layout, self._device_type, self._device_index, *rest = values
        self.impl_ptr, self.storage_data_ptr, self.id, self.allocation_id = rest

    # torch's objects are looked up when they are asked for: a tree has many tensors.
    @property
    def dtype(self):
        return _named(_DTYPES, self._dtype)

    @property
    def layout(self):
        return _named(_LAYOUTS, self._layout)

    @property
    def device(self):
        return None if self._device_type is None else torchs_device(self._device_type, self._device_index)

    @property
    def __class__(self):
        return torchs_class("_TensorMetadata") or _TensorMetadata

    def __repr__(self):
        return f"_TensorMetadata(id={self.id}, sizes={self.sizes}, dtype={self.dtype}, device={self.device})"


def _optional(values):
    return None if values is None else _TensorMetadata(values)


class _Owner:
    """A module or an optimizer. `parameters` of a module are (name, tensor, gradient), of an optimizer (tensor, gradient, state)."""

    def __init__(self, self_ptr, cls_ptr, cls_name, parameters):
        self.self_ptr, self.cls_ptr, self.cls_name, self.parameters = self_ptr, cls_ptr, cls_name, parameters


class _Owners:
    """The modules and optimizers of a recording. Each tells its tensors with its first event only."""

    def __init__(self):
        self._modules, self._optimizers = {}, {}

    def module(self, name, tensors):
        """The module of an event "nn.Module: Linear_0"."""
        if tensors and name not in self._modules:
            self_ptr, cls_ptr, *parameters = tensors
            triples = zip(*[iter(parameters)] * 3, strict=True)
            read = [(parameter, _TensorMetadata(tensor), _optional(gradient)) for parameter, tensor, gradient in triples]
            kind = name.removeprefix("nn.Module: ").rpartition("_")[0]
            self._modules[name] = _Owner(self_ptr, cls_ptr, kind, read)
        return self._modules.get(name)

    def optimizer(self, tensors):
        self_ptr, cls_ptr, *rest = tensors
        if self_ptr not in self._optimizers or rest:
            self._optimizers[self_ptr] = _Owner(self_ptr, cls_ptr, "", list(_optimizer_parameters(rest)))
        return self._optimizers[self_ptr]


def _optimizer_parameters(values):
    values = iter(values)
    for tensor in values:
        gradient, count = _optional(next(values)), next(values)
        state = [(next(values), _TensorMetadata(next(values))) for _ in range(count)]
        yield _TensorMetadata(tensor), gradient, state
