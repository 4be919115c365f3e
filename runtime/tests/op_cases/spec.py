"""What a case is: an op, its arguments, and what is compared. Tensors are described, not made, so that a failure can name its case."""

import zlib
from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class Dtype(IntEnum):
    """Element types with torch's numbers."""

    UINT8 = 0
    INT32 = 3
    INT64 = 4
    FLOAT32 = 6
    FLOAT64 = 7
    BOOL = 11

    @property
    def is_floating(self) -> bool:
        return self in (Dtype.FLOAT32, Dtype.FLOAT64)

    def __repr__(self) -> str:
        return self.name.lower()


U8, I32, I64, F32, F64, BOOL = Dtype
FLOATS = (F32, F64)
INTEGERS = (U8, I32, I64)
DTYPES = tuple(Dtype)
# How a tensor lies in memory: reversed dimensions; every other element, not from the start; one row for all; in the middle of its storage.
LAYOUTS = ("dense", "transposed", "gaps", "expanded", "offset")
SHAPES = ((), (0,), (1,), (5,), (2, 3), (3, 0, 2), (2, 3, 4), (37,), (3, 67))
NAN, INF = float("nan"), float("inf")
SPECIAL = (NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 1e-38, 1e-6, 20.5, -20.5, 90.0, -90.0, 1e30, -1e30)


@dataclass(frozen=True)
class T:
    """A tensor argument: random elements in [low, high), or the values given. Only floating point tensors get a gradient."""

    size: tuple
    dtype: Dtype = F32
    layout: str = "dense"
    low: float = -2.0
    high: float = 2.0
    values: tuple | None = None
    grad: bool = True

    def strides(self) -> tuple[list[int], int, int]:
        """Strides, offset and the number of elements of the storage."""
        sizes = [1 if self.layout == "expanded" and d == 0 else size for d, size in enumerate(self.size)]
        order = range(len(sizes)) if self.layout == "transposed" else reversed(range(len(sizes)))
        strides, step = [0] * len(sizes), 2 if self.layout == "gaps" else 1
        for d in order:
            strides[d] = step
            step *= max(sizes[d], 1)
        if self.layout == "expanded" and sizes:
            strides[0] = 0
        offset = {"gaps": 1, "offset": 3}.get(self.layout, 0)
        return strides, offset, step + offset + 2 * (self.layout == "offset")

    def encoded(self, random: np.random.Generator) -> dict:
        """As op_tool reads it."""
        strides, offset, count = self.strides()
        if 0 in self.size and self.layout == "dense":
            count = 0
        if self.dtype is BOOL:
            storage = random.integers(0, 2, count)
        elif self.dtype.is_floating:
            storage = random.uniform(self.low, self.high, count)
        else:
            low = max(self.low, 0) if self.dtype is U8 else self.low
            storage = random.integers(int(np.floor(low)), max(int(np.floor(low)) + 1, int(np.ceil(self.high))), count)
        storage = storage.astype(self.dtype.name.lower())
        if self.values is not None:
            assert self.layout == "dense"
            storage = np.array(self.values, self.dtype.name.lower())
        grad = self.grad and self.dtype.is_floating
        data = storage.tobytes().hex()
        return {"dtype": int(self.dtype), "size": list(self.size), "stride": strides, "offset": offset, "data": data, "grad": grad}


def values(*numbers, dtype: Dtype = F32, size: tuple | None = None, grad: bool = True) -> T:
    """A tensor with these elements."""
    return T(size if size is not None else (len(numbers),), dtype, values=numbers, grad=grad)


def indices(*numbers, size: tuple | None = None, dtype: Dtype = I64) -> T:
    return values(*numbers, dtype=dtype, size=size)


@dataclass(frozen=True)
class Case:
    op: str
    args: tuple
    options: dict
    compares_values: bool = True  # False: the elements are random or not initialised
    grads_of: int | None = None  # how many outputs are differentiated; None: all
    twice: bool = True  # whether gradients are differentiated again

    @property
    def precision(self) -> Dtype:
        """The least precise type that takes part."""
        types = {F64}
        for value in (*self.args, *self.options.values()):
            types |= {part.dtype for part in value if isinstance(part, T)} if isinstance(value, list) else set()
            types |= {value.dtype} if isinstance(value, T) else {value} if isinstance(value, Dtype) else set()
        return F32 if F32 in types else F64

    def __str__(self) -> str:
        given = [repr(arg) for arg in self.args] + [f"{name}={value!r}" for name, value in self.options.items()]
        return f"{self.op}({', '.join(given)})"

    def random(self) -> np.random.Generator:
        return np.random.default_rng(zlib.crc32(str(self).encode()))


TABLE: dict[str, list[Case]] = {}


def add(op: str, *args, compares_values: bool = True, grads_of: int | None = None, twice: bool = True, **options) -> None:
    """Adds a case. Arguments are in the order of the schema; those given by name are found in it. A correct op may answer with an error."""
    TABLE.setdefault(f"aten::{op}", []).append(Case(f"aten::{op}", args, options, compares_values, grads_of, twice))
