"""Matrix products, with every number of dimensions, strides, nothing to add up, and shapes that do not fit."""

from itertools import product

from .spec import DTYPES, F32, F64, FLOATS, I64, LAYOUTS, T, add

MM = (
    ((3, 4), (4, 2)),
    ((1, 4), (4, 1)),
    ((3, 0), (0, 2)),
    ((0, 4), (4, 2)),
    ((3, 4), (4, 0)),
    ((3, 4), (3, 2)),
    ((3,), (3, 2)),
    ((17, 33), (33, 9)),
)
for a, b in MM:
    for dtype in (F32, F64, I64):
        add("mm", T(a, dtype), T(b, dtype))
for a, b in product(LAYOUTS, LAYOUTS):
    add("mm", T((3, 4), F64, a), T((4, 5), F64, b))
    add("bmm", T((2, 3, 4), F64, a), T((2, 4, 5), F64, b))
    add("mv", T((3, 4), F64, a), T((4,), F64, b))
    add("matmul", T((2, 3, 4), F32, a), T((4, 5), F32, b))
    add("linear", T((2, 3, 4), F64, a), T((5, 4), F64, b), T((5,), F64))
    add("addmm", T((3, 5), F64, a), T((3, 4), F64, b), T((4, 5), F64, a), beta=0.5, alpha=2)
for a, b in product(DTYPES, DTYPES):
    add("mm", T((2, 3), a), T((3, 2), b))
    add("dot", T((3,), a), T((3,), b))
    add("matmul", T((3,), a), T((3,), b))
    add("linear", T((2, 3), a), T((4, 3), b))
for a, b in (
    ((2, 3, 4), (2, 4, 5)),
    ((0, 3, 4), (0, 4, 5)),
    ((2, 3, 0), (2, 0, 5)),
    ((2, 3, 4), (3, 4, 5)),
    ((2, 3, 4), (2, 3, 5)),
    ((3, 4), (4, 5)),
):
    for dtype in (F32, F64, I64):
        add("bmm", T(a, dtype), T(b, dtype))
for a, b in (((3, 4), (4,)), ((0, 4), (4,)), ((3, 0), (0,)), ((3, 4), (3,)), ((3,), (3,))):
    for dtype in (F32, F64, I64):
        add("mv", T(a, dtype), T(b, dtype))
for a, b in (((4,), (4,)), ((0,), (0,)), ((3,), (4,)), ((2, 2), (2, 2)), ((), ()), ((131,), (131,))):
    for dtype in (F32, F64, I64):
        add("dot", T(a, dtype), T(b, dtype))
add("dot", T((4,), F64, "gaps"), T((4,), F64, "expanded"))

for self, beta, alpha in product(((3, 5), (5,), (1, 5), (3, 1), (), (2, 5), (4,)), (1, 0, 0.5), (1, 2)):
    add("addmm", T(self, F64), T((3, 4), F64), T((4, 5), F64), beta=beta, alpha=alpha)
    add("baddbmm", T(self, F64), T((2, 3, 4), F64), T((2, 4, 5), F64), beta=beta, alpha=alpha)
for dtype in (F32, I64):
    add("addmm", T((5,), dtype), T((3, 4), dtype), T((4, 5), dtype))
    add("baddbmm", T((2, 3, 5), dtype), T((2, 3, 4), dtype), T((2, 4, 5), dtype))
    add("addmm", T((5,), dtype), T((3, 0), dtype), T((0, 5), dtype), beta=2)
    add("addmm", T((5,), dtype), T((0, 3), dtype), T((3, 5), dtype))
    add("baddbmm", T((2, 3, 5), dtype), T((2, 3, 0), dtype), T((2, 0, 5), dtype), beta=2)
add("addmm", T((5,)), T((3, 4)), T((3, 5)))
add("addmm", T((5,), F64), T((3, 4)), T((4, 5)))
add("baddbmm", T((5,)), T((2, 3, 4)), T((3, 4, 5)))

MATMUL = (
    ((4,), (4,)),
    ((4,), (4, 3)),
    ((3, 4), (4,)),
    ((3, 4), (4, 2)),
    ((2, 3, 4), (4,)),
    ((2, 3, 4), (4, 2)),
    ((3, 4), (2, 4, 2)),
    ((4,), (2, 4, 2)),
    ((2, 1, 3, 4), (3, 4, 2)),
    ((2, 3, 4), (2, 4, 5)),
    ((5, 1, 2, 3), (1, 4, 3, 2)),
    ((0, 3, 4), (4, 2)),
    ((2, 3, 0), (0, 2)),
    ((2, 0, 4), (2, 4, 3)),
    ((), (4,)),
    ((4,), ()),
    ((3, 4), (3, 4)),
    ((2, 3, 4), (3, 4, 5)),
    ((3,), (4,)),
)
for (a, b), dtype in product(MATMUL, FLOATS):
    add("matmul", T(a, dtype), T(b, dtype))
for a, b in product(("dense", "transposed", "gaps", "expanded"), repeat=2):
    add("matmul", T((2, 3, 4), F64, a), T((2, 4, 2), F64, b))
    add("matmul", T((2, 1, 3, 4), F64, a), T((3, 4, 2), F64, b))

LINEAR = (
    ((3, 4), (5, 4)),
    ((4,), (5, 4)),
    ((2, 3, 4), (5, 4)),
    ((2, 2, 3, 4), (5, 4)),
    ((0, 4), (5, 4)),
    ((3, 0), (5, 0)),
    ((3, 4), (4,)),
    ((3, 4), (5, 3)),
)
for (a, b), bias in product(LINEAR, (None, (5,), (1,), (), (4,))):
    add("linear", T(a, F64), T(b, F64), None if bias is None else T(bias, F64))
add("linear", T((3, 4)), T((5, 4), F64))
