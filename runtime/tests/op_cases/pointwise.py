"""Functions of one, two and three elements: types, shapes, strides, special values."""

from itertools import product

import numpy as np

from .spec import BOOL, DTYPES, F32, F64, FLOATS, I32, I64, INF, LAYOUTS, NAN, SHAPES, SPECIAL, U8, T, add, values

UNARY = """abs sign relu floor ceil round trunc exp expm1 log log1p log2 sqrt rsqrt sin cos tanh sigmoid erf neg reciprocal
    logical_not isnan isinf isfinite square silu leaky_relu elu gelu softplus log_sigmoid""".split()
IN_PLACE = """abs_ sign_ relu_ floor_ ceil_ round_ trunc_ exp_ expm1_ log_ log1p_ log2_ sqrt_ rsqrt_ sin_ cos_ tanh_ sigmoid_ erf_ neg_
    reciprocal_ silu_ leaky_relu_ elu_""".split()

for op in UNARY + IN_PLACE:
    for dtype in DTYPES:
        add(op, T((2, 3), dtype))
    for shape, dtype in product(SHAPES, FLOATS):
        add(op, T(shape, dtype))
    for layout, dtype in product(LAYOUTS, (F32, F64, I64)):
        add(op, T((3, 4), dtype, layout))
        add(op, T((2, 3, 2), dtype, layout, low=0.1, high=1.9))
    for dtype in FLOATS:
        # Of infinity torch's gelu is NaN, and its elu of NaN depends on the place in the tensor.
        add(op, values(*(x for x in SPECIAL if x - x == 0 or op.rstrip("_") not in ("gelu", "elu")), dtype=dtype))
        add(op, T((41,), dtype, low=-30, high=30))

for approximate, dtype in product(("none", "tanh"), FLOATS):
    add("gelu", T((3, 4), dtype), approximate=approximate)
    add("gelu_backward", T((3, 4), dtype), T((3, 4), dtype, "transposed"), approximate=approximate)
add("gelu", T((3,)), approximate="fast")
for dtype in FLOATS:
    add("leaky_relu", T((3, 4), dtype), 0.3)
    add("leaky_relu", T((3, 4), dtype), -0.3)
    add("leaky_relu_", T((3, 4), dtype), 0.3)
    add("leaky_relu_", T((3, 4), dtype), -0.3)
    add("elu", T((3, 4), dtype), 1.5, 2, 0.5)
    add("elu_", T((3, 4), dtype), 1.5, 2, 0.5)
    add("elu_", T((3, 4), dtype), -1.5)
    add("softplus", T((3, 4), dtype, low=-5, high=5), 2, 3)
    for op in ("silu_backward", "tanh_backward", "sigmoid_backward"):
        add(op, T((3, 4), dtype), T((3, 4), dtype, "transposed"))
        add(op, T((2, 0), dtype), T((2, 0), dtype))
    add("threshold_backward", T((3, 4), dtype), T((3, 4), dtype, "gaps"), 0.5)
    add("leaky_relu_backward", T((3, 4), dtype), T((3, 4), dtype), 0.2, False)
    add("leaky_relu_backward", T((3, 4), dtype), T((3, 4), dtype), 0.2, True)
    add("elu_backward", T((3, 4), dtype), 1.5, 2, 0.5, False, T((3, 4), dtype))
    add("elu_backward", T((3, 4), dtype), 1.5, 2, 0.5, True, T((3, 4), dtype))
    add("softplus_backward", T((3, 4), dtype), T((3, 4), dtype), 2, 3)
    # The second output is empty here, as on CUDA.
    add("log_sigmoid_forward", T((0,), dtype), grads_of=1)
    x = (-3.0, -0.5, 0.0, 1.0, 4.0)
    buffer = values(*np.exp(-np.abs(x)), dtype=dtype, grad=False)
    add("log_sigmoid_backward", T((5,), dtype), values(*x, dtype=dtype), buffer)

# ---- two operands ----

BROADCAST = (
    ((2, 3), (3,)),
    ((3,), (2, 3)),
    ((2, 1, 3), (4, 1)),
    ((0,), (1,)),
    ((2, 0), (1,)),
    ((), (2, 3)),
    ((2, 3), ()),
    ((), ()),
    ((19,), (19,)),
    ((2, 3), (2,)),
    ((2,), (3,)),
    ((0,), (2,)),
)
ARITHMETIC = ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor")
COMPARISONS = ("eq.Tensor", "ne.Tensor", "lt.Tensor", "le.Tensor", "gt.Tensor", "ge.Tensor")
BINARY = (*ARITHMETIC, *COMPARISONS, "logical_and", "logical_or", "maximum", "minimum", "pow.Tensor_Tensor")

for op in BINARY:
    low = 1.0 if op.startswith("pow") else -2.0
    for a, b in product(DTYPES, DTYPES):
        add(op, T((2, 3), a, low=low), T((3,), b, low=low))
        add(op, T((2, 3), a, low=low), T((), b, low=low))
        add(op, T((), a, low=low), T((), b, low=low))
    for (a, b), dtype in product(BROADCAST, (F32, F64, I64)):
        add(op, T(a, dtype, low=low), T(b, dtype, low=low))
    for a, b in product(LAYOUTS, LAYOUTS):
        add(op, T((3, 4), F64, a, low=low), T((3, 4), F64, b, low=low))
    for dtype in FLOATS:
        add(op, values(*SPECIAL, dtype=dtype), values(*reversed(SPECIAL), dtype=dtype))
        add(op, values(*SPECIAL, dtype=dtype), values(*SPECIAL, dtype=dtype))
        add(op, values(NAN, 0, 0, 1, dtype=dtype), values(0, NAN, 0, 1, dtype=dtype))
for op in ("add_.Tensor", "sub_.Tensor", "mul_.Tensor", "div_.Tensor"):
    for a, b in product(DTYPES, DTYPES):
        add(op, T((2, 3), a), T((3,), b))
        add(op, T((2, 3), a), T((), b))
    for (a, b), dtype in product(BROADCAST, (F32, I64)):
        add(op, T(a, dtype), T(b, dtype))
    for a, b in product(LAYOUTS, LAYOUTS):
        add(op, T((3, 4), F64, a), T((3, 4), F64, b))
for op, dtype, alpha in product(("add.Tensor", "sub.Tensor", "add_.Tensor", "sub_.Tensor"), DTYPES, (2, -1, 0.5, True)):
    add(op, T((2, 3), dtype), T((2, 3), dtype), alpha=alpha)

NUMBERS = (0, 2, -3, 2.5, -0.5, True, False, INF, NAN, 300, 1e20)
for op in "add sub mul div eq ne lt le gt ge add_ sub_ mul_ div_".split():
    for dtype, number in product(DTYPES, NUMBERS):
        add(f"{op}.Scalar", T((2, 3), dtype), number)
    for layout in LAYOUTS:
        add(f"{op}.Scalar", T((3, 4), F64, layout), 2)
    add(f"{op}.Scalar", T((), F32), 2.5)
    add(f"{op}.Scalar", T((0,), I64), 2.5)
for op in ("add.Scalar", "sub.Scalar", "rsub.Scalar", "add_.Scalar", "sub_.Scalar"):
    for dtype, alpha in product(DTYPES, (2, 0.5, True)):
        add(op, T((2, 3), dtype), 3, alpha)
for dtype, number in product(DTYPES, NUMBERS):
    add("rsub.Scalar", T((2, 3), dtype), number)

EXPONENTS = (0, 1, 2, 3, -1, -2, 0.5, -0.5, 2.5, 1.0, 2.0, True, NAN, INF)
for dtype, exponent in product(DTYPES, EXPONENTS):
    add("pow.Tensor_Scalar", T((2, 3), dtype, low=0.2), exponent)
    add("pow.Tensor_Scalar", T((2, 3), dtype), exponent)
    add("pow_.Scalar", T((2, 3), dtype, low=0.2), exponent)
    add("pow.Scalar", exponent, T((2, 3), dtype))
for dtype, exponent in product(FLOATS, EXPONENTS):
    add("pow.Tensor_Scalar", values(*SPECIAL, dtype=dtype), exponent)
    add("pow.Tensor_Scalar", values(0.0, -1.0, 2.0, dtype=dtype), exponent)
    add("pow.Scalar", exponent, values(*SPECIAL, dtype=dtype))
for layout in LAYOUTS:
    add("pow.Tensor_Scalar", T((3, 4), F64, layout), 3)
    add("pow.Scalar", 1.5, T((3, 4), F64, layout))
    add("pow_.Scalar", T((3, 4), F64, layout), 3)
add("pow.Tensor_Tensor", values(0.0, 0.0, 0.0, -1.0), values(0.0, 1.0, 2.0, 3.0))

# ---- three operands ----

for op in ("addcmul", "addcmul_", "addcdiv", "addcdiv_"):
    for dtype in DTYPES:
        add(op, T((2, 3), dtype, low=0.5), T((3,), dtype, low=1), T((2, 1), dtype, low=1), value=2)
    for layout in LAYOUTS:
        add(op, T((3, 4), F64, layout), T((3, 4), F64, "transposed"), T((3, 4), F64, layout, low=0.5), value=0.5)
    add(op, T((2, 3)), T((2,)), T((3,)))
    add(op, T((3,)), T((2, 3)), T((3,)))
    add(op, T((2, 3)), T((2, 3), F64), T((3,)))
    add(op, T((2, 3), I64), T((2, 3), I64, low=1), T((2, 3), I64, low=1), value=0.5)
    add(op, T((0, 3)), T((3,)), T((1,)))
    add(op, T(()), T(()), T((), low=1))
for op in ("lerp.Scalar", "lerp_.Scalar"):
    for weight, dtype in product((0, 0.3, 0.5, 0.8, 1, 2), (F32, F64, I64)):
        add(op, T((2, 3), dtype), T((3,), dtype), weight)
    for layout in LAYOUTS:
        add(op, T((3, 4), F64, layout), T((3, 4), F64, "gaps"), 0.7)
    add(op, T((2, 3)), T((2, 3), F64), 0.5)
    add(op, T((2, 3)), T((2,)), 0.5)
    add(op, T((0,)), T((1,)), 0.5)
for dtype in (F32, F64, I64):
    add("lerp.Tensor", T((2, 3), dtype), T((3,), dtype), T((2, 1), dtype, low=0, high=1))
for a, b in product(LAYOUTS, LAYOUTS):
    add("lerp.Tensor", T((3, 4), F64, a), T((3, 4), F64, b), T((3, 4), F64, a))
add("lerp.Tensor", T((2, 3)), T((2, 3), F64), T((3,)))
add("lerp.Tensor", T((2, 3)), T((2, 3)), T((2,)))

for a, b in product(DTYPES, DTYPES):
    add("where.self", T((2, 3), BOOL), T((2, 3), a), T((3,), b))
    add("where.self", T((2, 3), BOOL), T((2, 3), a), T((), b))
for dtype in DTYPES:
    add("where.self", T((3,), dtype), T((3,)), T((3,)))
    for number in (2, 2.5, True):
        add("where.ScalarOther", T((2, 3), BOOL), T((3,), dtype), number)
        add("where.ScalarSelf", T((2, 3), BOOL), number, T((3,), dtype))
for a, b in product(LAYOUTS, LAYOUTS):
    add("where.self", T((3, 4), BOOL, a), T((3, 4), F64, b), T((4,), F64))
add("where.self", T((2, 3), BOOL), T((2,)), T((3,)))
add("where.self", T((0,), BOOL), T((1,)), T((1,)))
add("where.self", T((), BOOL), T((2, 3)), T(()))

for op in ("masked_fill.Scalar", "masked_fill_.Scalar"):
    for dtype, number in product(DTYPES, (2, 2.5, True, -1, INF)):
        add(op, T((2, 3), dtype), T((3,), BOOL), number)
    for a, b in product(LAYOUTS, LAYOUTS):
        if a != "expanded" or op == "masked_fill.Scalar":  # torch warns, we refuse
            add(op, T((3, 4), F64, a), T((3, 4), BOOL, b), 3)
    for mask in (U8, I64, F32):
        add(op, T((2, 3)), T((2, 3), mask), 1)
    add(op, T((3,)), T((2, 3), BOOL), 1)
    add(op, T((2, 3)), T((2,), BOOL), 1)
    add(op, T(()), T((), BOOL), 1)
    add(op, T((0, 3)), T((3,), BOOL), 1)

LIMITS = ((-1, 1), (0.5, None), (None, 0.5), (None, None), (1, -1), (NAN, 1), (0, 2.5), (True, None))
for op in ("clamp", "clamp_"):
    for dtype, (low, high) in product(DTYPES, LIMITS):
        add(op, T((2, 3), dtype, low=-3, high=4), low, high)
    for layout in LAYOUTS:
        add(op, T((3, 4), F64, layout), -0.5, 0.5)
    add(op, values(*SPECIAL), -1, 2)
    add(op, values(-1.0, 0.0, 1.0, 2.0, dtype=F64), 0, 1)
    add(op, T((0,)), 0, 1)
for op, dtype, number in product(("clamp_min", "clamp_max"), DTYPES, (0, 0.5, -1, NAN, True)):
    add(op, T((2, 3), dtype), number)
for op in ("clamp_min", "clamp_max"):
    add(op, values(*SPECIAL), 1)
    add(op, T((3, 4), F64, "transposed"), 0.3)
    add(op, T((3, 4), I32, "gaps"), 1)
