"""New tensors: types, shapes, and what cannot be made. Random elements are tested in random_test.cpp; here their type and shape are."""

from itertools import product

from .spec import BOOL, DTYPES, F32, F64, I64, INF, LAYOUTS, NAN, SHAPES, T, add

for op, dtype in product(("zeros", "ones", "rand", "randn", "empty.memory_format"), (None, *DTYPES)):
    for size in ((), (0,), (2, 3), (2, 0, 3)):
        add(op, size, dtype=dtype, compares_values=op in ("zeros", "ones"))
for op in ("zeros", "ones", "rand", "randn", "empty.memory_format"):
    add(op, (2, -1), compares_values=False)
for number, dtype in product((0, 2, 2.5, True, -1, NAN, INF, 300), (None, *DTYPES)):
    add("full", (2, 3), number, dtype=dtype)
    add("full_like", T((2, 3)), number, dtype=dtype)
add("full", (-1,), 2)
for op in ("zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"):
    exact = op in ("zeros_like", "ones_like")
    for layout, dtype in product(LAYOUTS, (None, F64, I64)):
        add(op, T((3, 4), F32, layout), dtype=dtype, compares_values=exact)
    for shape, dtype in product(SHAPES, (F32, I64, BOOL)):
        add(op, T(shape, dtype), compares_values=exact)
    add(op, T((3, 4), F32, "transposed"), memory_format=0, compares_values=exact)
for layout in LAYOUTS:
    add("full_like", T((3, 4), F64, layout), 2)
for size, stride in (((2, 3), (3, 1)), ((2, 3), (1, 2)), ((2, 3), (1,)), ((), ()), ((2, 3), (5, -1)), ((0, 3), (3, 1))):
    add("empty_strided", size, stride, compares_values=False)

for dtype in (None, *DTYPES):
    for end in (5, 5.0, 0, 2.5, 1.0):
        add("arange", end, dtype=dtype)
    add("arange.start", 2, 7, dtype=dtype)
    add("arange.start", 0.5, 3, dtype=dtype)
    add("arange.start_step", 1, 10, 3, dtype=dtype)
    add("arange.start_step", 0, 1, 0.25, dtype=dtype)
    add("linspace", 0, 10, 5, dtype=dtype)
    add("eye", 3, dtype=dtype)
    add("eye.m", 2, 3, dtype=dtype)
    add("randperm", 7, dtype=dtype, compares_values=False)
    add("randint.low", 0, 2, (2, 3), dtype=dtype, compares_values=False)
for start, end, step in ((5, 0, -2), (0, 5, 0), (5, 0, 1), (0, 5, -1), (0, 1, 0.1), (1, 2, NAN), (0, INF, 1), (-3, 3, 2)):
    add("arange.start_step", start, end, step)
add("arange", -1)
add("arange", NAN)
for start, end, steps in ((0, 1, 0), (0, 1, 1), (0, 1, 2), (3, -3, 7), (0, 1, -1), (1.5, 1.5, 4), (0, 1, 101)):
    for dtype in (None, F64, I64):
        add("linspace", start, end, steps, dtype=dtype)
for n, m in ((0, 0), (3, 0), (0, 3), (4, 2), (-1, 2), (2, -1)):
    add("eye.m", n, m)
add("eye", 0)
add("eye", -1)
add("randperm", 0)
add("randperm", -1)
add("randint.low", 3, 3, (2,), compares_values=False)
add("randint.low", 5, 2, (2,), compares_values=False)
add("randint.low", 4, 5, (2, 3))

for dtype in DTYPES:
    add("uniform_", T((2, 3), dtype), compares_values=False)
    add("normal_", T((2, 3), dtype), compares_values=False)
    add("random_.from", T((2, 3), dtype), 0, 2, compares_values=False)
    add("bernoulli_.float", T((2, 3), dtype), 1.0)
    add("bernoulli_.float", T((2, 3), dtype), 0.0)
for layout in LAYOUTS:
    add("uniform_", T((3, 4), F64, layout), compares_values=False)
    add("normal_", T((3, 4), F64, layout), compares_values=False)
    add("random_.from", T((3, 4), F64, layout), 0, 9, compares_values=False)
    add("bernoulli_.float", T((3, 4), F64, layout), 0.5, compares_values=False)
add("uniform_", T((3,)), 2.0, 1.0, compares_values=False)
add("uniform_", T((3,)), 1.0, 1.0)
add("normal_", T((3,)), 1.0, -1.0, compares_values=False)
add("normal_", T((3,)), 1.0, 0.0)
add("random_.from", T((3,), I64), 5, 2, compares_values=False)
add("random_.from", T((3,), I64), 5, 6)
add("bernoulli_.float", T((3,)), 1.5)
add("bernoulli_.float", T((3,)), -0.5)
