"""Reductions, with dimensions present and missing, kept and dropped, empty and out of range."""

from itertools import product

from .spec import DTYPES, F32, F64, FLOATS, I32, I64, INF, LAYOUTS, NAN, SHAPES, T, add, indices, values

DIMS = ((), (0,), (1,), (-1,), (0, 1), (0, 2), (2, 0), (-2, 1), (0, 0), (3,), (-4,))

# ---- over everything ----
for op in "sum mean prod any all max min argmax argmin var.correction std.correction linalg_vector_norm".split():
    for shape, dtype in product(SHAPES, DTYPES):
        add(op, T(shape, dtype))
    for layout, dtype in product(LAYOUTS, (F32, F64, I64)):
        add(op, T((3, 4), dtype, layout))
        add(op, T((2, 3, 4), dtype, layout))
    for dtype in FLOATS:
        add(op, values(1.0, NAN, 3.0, dtype=dtype))
        add(op, values(NAN, NAN, dtype=dtype))
        add(op, values(1.0, INF, -INF, 0.0, dtype=dtype))
        add(op, values(2.0, 0.0, 3.0, 2.0, 3.0, dtype=dtype))
for op, dtype, asked in product(("sum", "mean", "prod"), DTYPES, DTYPES):
    add(op, T((2, 3), dtype), dtype=asked)

# ---- over one dimension ----
for op in "prod.dim_int any.dim all.dim max.dim min.dim argmax argmin cumsum softmax.int log_softmax.int _safe_softmax".split():
    for dim, dtype in product((0, 1, 2, -1, -3, 3, -4), (F32, F64, I64)):
        add(op, T((2, 3, 4), dtype), dim)
    for dtype in DTYPES:
        add(op, T((3, 4), dtype), 1)
    for shape, dim in product(((), (0,), (3, 0), (0, 3), (1,)), (0, -1, 1)):
        add(op, T(shape), dim)
    for layout, dim in product(LAYOUTS, (0, 1)):
        add(op, T((5, 7), F64, layout), dim)
    for dtype in FLOATS:
        add(op, values(1.0, NAN, 3.0, 2.0, 2.0, NAN, size=(2, 3), dtype=dtype), 1)
        add(op, values(-INF, -INF, 3.0, INF, 2.0, -INF, size=(2, 3), dtype=dtype), 0)
        add(op, values(1.0, 0.0, 3.0, 2.0, 0.0, 0.0, size=(2, 3), dtype=dtype), 1)
for op, dim in product("prod.dim_int any.dim all.dim max.dim min.dim argmax argmin".split(), (0, 1, -1)):
    add(op, T((3, 4), F64), dim, keepdim=True)
    add(op, T((), F64), dim, keepdim=True)
    add(op, T((3, 0), F64), dim, keepdim=True)
add("argmax", T((3, 4)), None, True)
add("argmin", T((3, 4)), None, True)
for op, dtype, asked in product(("prod.dim_int", "cumsum", "softmax.int", "log_softmax.int"), DTYPES, (F32, F64, I32)):
    add(op, T((2, 3), dtype), 1, dtype=asked)

# ---- over several ----
for op in "sum.dim_IntList mean.dim var.correction std.correction amax amin logsumexp linalg_vector_norm".split():
    # Over no dimensions torch has wrong gradients of variances, and no logsumexp.
    has_all = op not in ("var.correction", "std.correction", "logsumexp")
    for dims, keepdim in product(DIMS if has_all else DIMS[1:], (False, True)):
        add(op, T((2, 3, 4), F64), dim=dims, keepdim=keepdim)
    for dtype, dims in product(DTYPES, ((0,), (0, 1))):
        add(op, T((3, 4), dtype), dim=dims)
    for shape, dims in product(((), (0,), (3, 0), (0, 3), (1, 1)), ((), (0,), (-1,), (0, 1))):
        if has_all or dims:
            add(op, T(shape), dim=dims)
    for layout, dims in product(LAYOUTS, ((0,), (1,), (0, 2), (0, 1, 2))):
        add(op, T((2, 3, 4), F64, layout), dim=dims)
    for dtype in FLOATS:
        add(op, values(1.0, NAN, 3.0, 2.0, 2.0, -1.0, size=(2, 3), dtype=dtype), dim=(1,))
        add(op, values(INF, -INF, 3.0, INF, 2.0, -INF, size=(2, 3), dtype=dtype), dim=(0,))
        add(op, values(1.0, 2.0, 2.0, 0.0, 0.0, 0.0, size=(2, 3), dtype=dtype), dim=(1,), twice=op != "linalg_vector_norm")
for op in ("sum.dim_IntList", "mean.dim", "linalg_vector_norm"):
    add(op, T((2, 3)), dim=None)
    for dtype, asked in product(DTYPES, DTYPES):
        add(op, T((2, 3), dtype), dim=(0,), dtype=asked)
for op, correction in product(("var.correction", "std.correction"), (0, 1, 2, 0.5, 3, 5, None)):
    add(op, T((3, 4), F64), dim=(1,), correction=correction)
    add(op, T((3, 4)), correction=correction)
for order, dtype in product((0, 1, 2, 3, 0.5, -1, 2.5, INF, -INF), FLOATS):
    add("linalg_vector_norm", T((3, 4), dtype), order)
    add("linalg_vector_norm", T((3, 4), dtype, "transposed"), order, dim=(1,))
    add("linalg_vector_norm", T((3, 4), dtype), order, dim=(0, 1), keepdim=True)
    # The second gradient of the norm of nothing and of zeros is 0 here and NaN in torch.
    add("linalg_vector_norm", values(0.0, 0.0, -1.0, 2.0, size=(2, 2), dtype=dtype), order, dim=(1,), twice=False)
    add("linalg_vector_norm", T((0,), dtype), order, twice=False)
    add("linalg_vector_norm", T((2, 0), dtype), order, dim=(0,))

# ---- largest and smallest ----
for dtype in DTYPES:
    add("topk", values(3, 1, 4, 0, 5, 9, 2, 6, dtype=dtype), 3)
for k, dim, largest in product((0, 1, 2, 4, 5, -1), (0, 1, -1, 2), (True, False)):
    add("topk", T((4, 4), F64), k, dim, largest)
for layout in LAYOUTS:
    add("topk", T((5, 7), F64, layout), 3, 1)
add("topk", values(1.0, NAN, 3.0, 2.0), 2)
add("topk", values(1.0, NAN, 3.0, 2.0), 2, -1, False)
add("topk", T(()), 1)
add("topk", T((0,)), 0)
add("value_selecting_reduction_backward", T((2,), F64), 1, indices(0, 2), (2, 3), False)
add("value_selecting_reduction_backward", T((2, 1)), 1, indices(0, 2, size=(2, 1)), (2, 3), True)

# ---- softmax below its face ----
for op, dtype in product(("_softmax", "_log_softmax"), FLOATS):
    for dim, layout in product((0, 1, -1), LAYOUTS):
        add(op, T((3, 5), dtype, layout), dim, False)
    add(op, T((2, 3, 4), dtype), 1, False)
    add(op, T((), dtype), 0, False)
    add(op, T((3, 0), dtype), 1, False)
    add(op, T((3, 4), dtype), 2, False)
    add(op, T((3, 300), dtype, low=-40, high=40), 1, False)
    add(op, T((3, 4), dtype), 1, True)
for op, dtype in product(("_softmax_backward_data", "_log_softmax_backward_data"), FLOATS):
    for dim in (0, 1, -1):
        add(op, T((3, 4), dtype), T((3, 4), dtype, "transposed", low=0.1, high=0.5), dim, dtype)
