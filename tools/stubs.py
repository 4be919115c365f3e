"""Writes python/mindtorch_v2/__init__.pyi, the names of the package for editors and type checkers.

Functions and methods that are ops come from the schemas of the dispatcher; the others from their Python signatures.

    PYTHONPATH=build/dev/python python tools/stubs.py [--check]
"""

import argparse
import inspect
import keyword
import re
import sys
from pathlib import Path

import mindtorch_v2 as torch
from mindtorch_v2 import _creation, _functions, _runtime

TARGET = Path(__file__).resolve().parent.parent / "python" / "mindtorch_v2" / "__init__.pyi"

TYPES = {
    "Tensor": "Tensor",
    "Scalar": "_Number",
    "SymInt": "_int",
    "int": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "str",
    "ScalarType": "_dtype",
    "Layout": "_int",
    "Device": "_device | str",
    "MemoryFormat": "_int",
    "Generator": "Generator",
}

HEADER = '''"""torch.profiler's API on a small tensor runtime of its own: `import mindtorch_v2 as torch`."""

# Written by tools/stubs.py; do not edit. Names with an underscore stand for types whose own names mean something else below.
# ruff: noqa
# fmt: off

from builtins import bool as _bool
from builtins import float as _float
from builtins import int as _int
from collections.abc import Iterator, Sequence
from typing import Any, overload

from mindtorch_v2 import autograd as autograd
from mindtorch_v2 import cuda as cuda
from mindtorch_v2 import nn as nn
from mindtorch_v2 import npu as npu
from mindtorch_v2 import optim as optim
from mindtorch_v2 import profiler as profiler
from mindtorch_v2 import random as random
from mindtorch_v2 import serialization as serialization
from mindtorch_v2.autograd.grad_mode import enable_grad as enable_grad
from mindtorch_v2.autograd.grad_mode import no_grad as inference_mode
from mindtorch_v2.autograd.grad_mode import no_grad as no_grad
from mindtorch_v2.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from mindtorch_v2.random import get_rng_state as get_rng_state
from mindtorch_v2.random import initial_seed as initial_seed
from mindtorch_v2.random import manual_seed as manual_seed
from mindtorch_v2.random import seed as seed
from mindtorch_v2.random import set_rng_state as set_rng_state
from mindtorch_v2.serialization import load as load
from mindtorch_v2.serialization import save as save

_Number = _float | _int | _bool

__version__: str

class ArgumentAssertionError(ValueError, AssertionError): ...

class dtype:
    is_floating_point: _bool
    is_complex: _bool
    is_signed: _bool
    itemsize: _int

class device:
    type: str
    index: _int | None
    def __init__(self, type: str | device, index: _int | None = None) -> None: ...

_dtype = dtype
_device = device

class Size(tuple[_int, ...]):
    def numel(self) -> _int: ...

class Generator:
    def __init__(self, device: Any = None) -> None: ...
    def manual_seed(self, seed: _int) -> Generator: ...
    def initial_seed(self) -> _int: ...
    def seed(self) -> _int: ...
    def get_state(self) -> tuple[_int, _int]: ...
    def set_state(self, state: tuple[_int, _int]) -> None: ...

default_generator: Generator

def get_default_dtype() -> _dtype: ...
def set_default_dtype(dtype: _dtype) -> None: ...
def promote_types(type1: _dtype, type2: _dtype) -> _dtype: ...
def can_cast(from_: _dtype, to: _dtype) -> _bool: ...
def is_grad_enabled() -> _bool: ...
def from_dlpack(source: Any) -> Tensor: ...
def tensor(data: Any, *, dtype: _dtype | None = None, device: _device | str | None = None, requires_grad: _bool = False) -> Tensor: ...
def set_printoptions(
    precision: _int | None = None,
    threshold: _float | None = None,
    edgeitems: _int | None = None,
    linewidth: _int | None = None,
    profile: str | None = None,
    sci_mode: _bool | None = None,
) -> None: ...

strided: _int
contiguous_format: _int
preserve_format: _int
'''

# Members of Tensor that C++ defines besides ops, by name.
PROPERTIES = {
    "shape": "Size",
    "dtype": "_dtype",
    "device": "_device",
    "ndim": "_int",
    "itemsize": "_int",
    "nbytes": "_int",
    "_version": "_int",
    "output_nr": "_int",
    "is_cuda": "_bool",
    "is_npu": "_bool",
    "is_cpu": "_bool",
    "is_leaf": "_bool",
    "retains_grad": "_bool",
    "_base": "Tensor | None",
    "T": "Tensor",
    "mT": "Tensor",
    "requires_grad": "_bool",
    "grad": "Tensor | None",
    "grad_fn": "Any",
    "data": "Tensor",
}
METHODS = """
def __init__(self, *data: Any) -> None: ...
def __getitem__(self, index: Any) -> Tensor: ...
def __setitem__(self, index: Any, value: Any) -> None: ...
def __len__(self) -> _int: ...
def __iter__(self) -> Iterator[Tensor]: ...
def __bool__(self) -> _bool: ...
def __float__(self) -> _float: ...
def __int__(self) -> _int: ...
def __index__(self) -> _int: ...
def __eq__(self, other: object) -> Any: ...
def __ne__(self, other: object) -> Any: ...
def __hash__(self) -> _int: ...
def dim(self) -> _int: ...
def ndimension(self) -> _int: ...
def numel(self) -> _int: ...
def nelement(self) -> _int: ...
def element_size(self) -> _int: ...
def data_ptr(self) -> _int: ...
def storage_offset(self) -> _int: ...
def is_floating_point(self) -> _bool: ...
def is_complex(self) -> _bool: ...
def is_contiguous(self, memory_format: _int = 0) -> _bool: ...
def item(self) -> Any: ...
def tolist(self) -> Any: ...
def retain_grad(self) -> None: ...
def requires_grad_(self, requires_grad: _bool = True) -> Tensor: ...
def detach_(self) -> Tensor: ...
def to(self, *args: Any, **kwargs: Any) -> Tensor: ...
@overload
def size(self, dim: None = None) -> Size: ...
@overload
def size(self, dim: _int) -> _int: ...
@overload
def stride(self, dim: None = None) -> tuple[_int, ...]: ...
@overload
def stride(self, dim: _int) -> _int: ...
""".strip().splitlines()
BINARY = "add sub mul truediv pow matmul floordiv mod and or xor".split()
UNARY = "neg pos abs invert".split()
COMPARISONS = "lt le gt ge".split()


def python_type(text):
    """ "Tensor(a!)[]?" as Python writes it."""
    base = re.match(r"[A-Za-z]+", text)[0]
    result = TYPES[base] + (" | None" if "?[" in text else "")
    if "[" in text:
        result = f"Sequence[{result}]" if base in ("Tensor", "bool") else f"{result} | Sequence[{result}]"
    return f"{result} | None" if text.endswith("?") else result


def split_top(text):
    """Parts between commas that stand outside of parentheses and brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [p.strip() for p in parts if p.strip()]


def result_type(text):
    if not text.startswith("("):
        return "tuple[Tensor, ...]" if "[]" in text else python_type(text)
    return f"tuple[{', '.join(python_type(part.split(' ')[0]) for part in split_top(text[1:-1]))}]"


def signatures(op, is_method):
    """The signatures of an op, without name; a list of sizes may also be given one by one."""
    found = []
    for schema in op.schemas:
        # "name(arguments) -> result": the arrow inside Tensor(a -> *) is not the last.
        inside, result = schema[schema.index("(") + 1 :].rsplit(") -> ", 1)
        arguments = split_top(inside)
        if is_method and (not arguments or not re.match(r"Tensor(\([^)]*\))? self$", arguments[0])):
            continue
        words = ["self"] if is_method else []
        for i, argument in enumerate(arguments[1:] if is_method else arguments):
            words.append(parameter(argument, is_first=i == 0 and not is_method))
        if "pin_memory" in inside and not schema.startswith("aten::_to_copy"):
            words.append("requires_grad: _bool = ...")
        found.append(f"({', '.join(words)}) -> {result_type(result)}: ...")
        positional = [w for w in words[: words.index("*")] if w != "self"] if "*" in words else [w for w in words if w != "self"]
        if len(positional) == 1 and "_int | Sequence[_int]" in positional[0]:
            spread = [f"*{w.split(':')[0]}: _int" if w == positional[0] else w for w in words if w != "*"]
            found.append(f"({', '.join(spread)}) -> {result_type(result)}: ...")
    return list(dict.fromkeys(found))


def parameter(argument, is_first):
    if argument == "*":
        return "*"
    kind, _, rest = argument.rpartition(" ") if "=" not in argument else argument.split("=")[0].rpartition(" ")
    name = rest
    if is_first and name == "self":
        name = "input"
    if keyword.iskeyword(name):
        name += "_"
    return f"{name}: {python_type(kind)}" + (" = ..." if "=" in argument else "")


def definitions(name, found, indent=""):
    mark = f"{indent}@overload\n" if len(found) > 1 else ""
    return "".join(f"{mark}{indent}def {name}{signature}\n" for signature in found)


def python_signature(function):
    """The signature of a Python function; its types are not known."""
    parameters = inspect.signature(function).parameters.values()
    return f"{inspect.Signature([p.replace(default=...) if p.default is not p.empty else p for p in parameters])} -> Any: ...".replace(
        "Ellipsis", "..."
    )


def callables():
    """Functions of the package by name: ops, and what Python adds or refines."""
    names = dict(_runtime.ops)
    for module in (_creation, _functions):
        names |= {name: getattr(module, name) for name in module.__all__}
    return dict(sorted(names.items()))


def tensor_class():
    lines = ["class Tensor:"]
    lines += [f"    {name}: {kind}" for name, kind in PROPERTIES.items()]
    lines += [f"    {line}" for line in METHODS]
    for name in BINARY:
        lines += [f"    def __{prefix}{name}__(self, other: Any) -> Tensor: ..." for prefix in ("", "r")]
    lines += [f"    def __i{name}__(self, other: Any) -> Tensor: ..." for name in ("add", "sub", "mul", "truediv", "pow")]
    lines += [f"    def __{name}__(self) -> Tensor: ..." for name in UNARY]
    lines += [f"    def __{name}__(self, other: Any) -> Tensor: ..." for name in COMPARISONS]
    written = "\n".join(lines) + "\n"
    known = set(re.findall(r"def (\w+)\(", written)) | set(PROPERTIES)
    for name, value in sorted(vars(torch.Tensor).items()):
        if name in known or (name.startswith("_") and name not in ("__array__", "__dlpack__", "__dlpack_device__", "__deepcopy__")):
            continue
        if isinstance(value, type(_runtime.ops["add"])):
            written += definitions(name, signatures(value, True), "    ")
        elif inspect.isfunction(value):
            written += definitions(name, [python_signature(value)], "    ")
    return written


def stub():
    """The text of the stub file."""
    text = HEADER + "\n" + "".join(f"{name}: _dtype\n" for name in _runtime.dtypes)
    text += "".join(f"{name}: _float\n" for name in ("inf", "nan", "pi", "e")) + "\n" + tensor_class() + "\n"
    for name, value in callables().items():
        if isinstance(value, type(_runtime.ops["add"])):
            text += definitions(name, signatures(value, False))
        elif inspect.isfunction(value):
            text += definitions(name, [python_signature(value)])
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the file is not what would be written")
    if parser.parse_args().check:
        if not TARGET.exists() or TARGET.read_text() != stub():
            print(f"{TARGET} is out of date: run tools/stubs.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(stub())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
