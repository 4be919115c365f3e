"""Saving and loading: tensors, numbers, texts and containers of them. A file holds data only; loading one never runs code."""

import io
import json
import os
import stat
import struct
import zipfile

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor

_FORMAT = "mindtorch-data"
_VERSION = 1
_ENTRY = "data.json"


def save(obj, f):
    """Writes tensors, None, bool, int, float, str, dtype, device, and dicts, lists and tuples of them. `f` is a path or a writable binary
    file. A file given by its path appears whole or not at all."""
    writer = _Writer()
    text = json.dumps({"format": _FORMAT, "version": _VERSION, "object": writer.encode(obj, "object")})
    if hasattr(f, "write"):
        writer.write(f, text)
        return
    file = _runtime.AtomicFile(os.fspath(f))
    with open(file.fileno(), "wb", closefd=False) as stream:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            writer.write(stream, text)
            stream.flush()
            os.fsync(file.fileno())
        else:  # a device, which has no positions for an archive to return to
            whole = io.BytesIO()
            writer.write(whole, text)
            stream.write(whole.getvalue())
    file.commit()


def load(f, map_location=None, weights_only=True):
    """Reads a file that save() wrote. `map_location` is the device for all tensors; by default each tensor keeps its device."""
    try:
        with zipfile.ZipFile(f) as archive:
            header = json.loads(archive.read(_ENTRY))
            if header.get("format") != _FORMAT:
                raise ValueError(f"not a file of mindtorch_v2.save: {f!r}")
            if header["version"] > _VERSION:
                raise ValueError(f"{f!r} was written by a newer version (format {header['version']}, this one reads up to {_VERSION})")
            return _Reader(archive, map_location).decode(header["object"])
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(
            f"cannot load {f!r}: it was not written by mindtorch_v2.save ({error}). "
            "Files of pickled objects are refused, because reading one can run any code."
        ) from error


class _Writer:
    """Tensors that are the same view of the same memory are written once; the tree refers to them by number."""

    def __init__(self):
        self._memories = {}  # memory and geometry -> (entry, tensor)

    def encode(self, obj, where):
        if obj is None or isinstance(obj, bool | str):
            return obj
        if isinstance(obj, int):
            return {"int": str(obj)}
        if isinstance(obj, float):
            return {"float": struct.pack("<d", obj).hex()}
        if isinstance(obj, Tensor):
            return {"tensor": self._encode_tensor(obj)}
        if isinstance(obj, dict):
            return {"dict": [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in obj.items()]}
        if isinstance(obj, list | tuple):
            kind = "list" if isinstance(obj, list) else "tuple"
            return {kind: [self.encode(v, f"{where}[{i}]") for i, v in enumerate(obj)]}
        if isinstance(obj, _runtime.dtype):
            return {"dtype": str(obj).removeprefix("torch.")}
        if isinstance(obj, _runtime.device):
            return {"device": str(obj)}
        raise TypeError(f"cannot save {where} of type {type(obj).__name__}: only tensors, numbers, texts and containers of them are saved")

    def _encode_tensor(self, tensor):
        plain = tensor.detach()
        key = (plain.data_ptr(), str(plain.device), plain.numel(), str(plain.dtype), plain.shape, plain.stride())
        if key not in self._memories:
            self._memories[key] = (f"tensors/{len(self._memories)}", plain.cpu().contiguous())
        entry = self._memories[key][0]
        kind = "parameter" if type(tensor).__name__ == "Parameter" else "tensor"
        return {
            "kind": kind,
            "entry": entry,
            "dtype": str(plain.dtype).removeprefix("torch."),
            "shape": list(plain.shape),
            "device": str(plain.device),
            "requires_grad": tensor.requires_grad,
        }

    def write(self, file, text):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(_ENTRY, text)
            for entry, tensor in self._memories.values():
                archive.writestr(entry, _runtime.bytes_of(tensor))


class _Reader:
    def __init__(self, archive, map_location):
        self._archive = archive
        self._device = map_location
        self._tensors = {}

    def decode(self, tree):
        if not isinstance(tree, dict):
            return tree
        ((kind, value),) = tree.items()
        if kind == "int":
            return int(value)
        if kind == "float":
            return struct.unpack("<d", bytes.fromhex(value))[0]
        if kind == "dict":
            return {self.decode(k): self.decode(v) for k, v in value}
        if kind == "list":
            return [self.decode(v) for v in value]
        if kind == "tuple":
            return tuple(self.decode(v) for v in value)
        if kind == "dtype":
            return _runtime.dtypes[value]
        if kind == "device":
            return _runtime.device(value)
        if kind == "tensor":
            return self._decode_tensor(value)
        raise ValueError(f"unknown kind of value in the file: {kind!r}")

    def _decode_tensor(self, value):
        tensor = self._tensors.get(value["entry"])
        if tensor is None:
            device = value["device"] if self._device is None else self._device
            data = self._archive.read(value["entry"])
            tensor = _runtime.tensor_of_bytes(data, _runtime.dtypes[value["dtype"]], value["shape"]).to(device)
            self._tensors[value["entry"]] = tensor
        if value["kind"] == "parameter":
            from mindtorch_v2.nn.parameter import Parameter

            return Parameter(tensor, requires_grad=value["requires_grad"])
        return tensor.detach().requires_grad_() if value["requires_grad"] else tensor
