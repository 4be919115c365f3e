"""Views, copies, joins and elements by index: geometry is compared as well as elements."""

from itertools import product

from .spec import BOOL, DTYPES, F32, F64, FLOATS, I32, I64, INF, LAYOUTS, NAN, SHAPES, T, add, indices, values

ROOM = T((2, 3, 4), F64)
FLAT = T((6,), F64)

# ---- views ----
for op in ("view", "reshape", "_unsafe_view"):
    for layout in LAYOUTS:
        for size in ((24,), (2, 12), (6, 4), (2, 3, 2, 2), (4, 3, 2), (-1,), (3, -1), (1, 2, 3, 4), (2, 3, 4)):
            add(op, T((2, 3, 4), F64, layout), size)
    for size in ((5,), (-1, 5), (-1, -1), (), (2, -3), (0, -1), (25,)):
        add(op, ROOM, size)
    add(op, T(()), (1, 1))
    add(op, T(()), ())
    add(op, T((0, 3)), (3, 0, 2))
    add(op, T((0, 3)), (-1, 3))
    add(op, T((0, 3)), (-1, 0))
    add(op, T((1,)), ())
for start, end in ((0, -1), (1, -1), (0, 1), (1, 1), (-2, -1), (2, 1), (0, 3), (-4, 0)):
    add("flatten.using_ints", ROOM, start, end)
for layout in LAYOUTS:
    add("flatten.using_ints", T((2, 3, 4), F64, layout), 1)
add("flatten.using_ints", T(()))
add("flatten.using_ints", T((0, 3)))
for size in ((4, 2, 3), (2, 3), (-1, 3), (5, -1, 3), (-1, -1, 3), (3, 3), (3,), (2, 0), (0, 2, 3), (2, -2)):
    for implicit in (False, True):
        add("expand", T((2, 1), F64), size, implicit=implicit)
add("expand", T(()), (2, 2))
add("expand", T((3,), F32, "gaps"), (2, 3))
for size, stride, offset in (((2, 2), (3, 1), 1), ((2, 3), (1, 1), None), ((), (), 4), ((3,), (0,), 2), ((2, 0), (1, 1), 0)):
    add("as_strided", FLAT, size, stride, offset)
for size, stride, offset in (((4,), (2,), 0), ((2,), (1, 1), 0), ((2,), (-1,), 3), ((2,), (1,), -1), ((7,), (1,), 0)):
    add("as_strided", FLAT, size, stride, offset)
for a, b in product((0, 1, 2, -1, -3, 3, -4), repeat=2):
    add("transpose.int", ROOM, a, b)
add("transpose.int", T(()), 0, -1)
add("transpose.int", T((3,)), 0, 0)
for shape in ((), (3,), (2, 3), (2, 3, 4), (0, 2)):
    add("t", T(shape, F64))
for dims in ((2, 0, 1), (0, 1, 2), (-1, -2, -3), (0, 1), (0, 0, 1), (0, 1, 3), ()):
    add("permute", ROOM, dims)
add("permute", T(()), ())
for shape in ((1, 2, 1, 3), (), (1,), (2, 3), (0, 1), (1, 1)):
    add("squeeze", T(shape, F64))
    for dim in (0, 1, -1, 2, -3, 4):
        add("squeeze.dim", T(shape, F64), dim)
        add("unsqueeze", T(shape, F64), dim)
for layout in LAYOUTS:
    add("unsqueeze", T((2, 3), F64, layout), 1)
    add("unsqueeze", T((2, 3), F64, layout), -1)
    add("squeeze", T((2, 1, 3), F64, layout))

# ---- parts ----
for dim, index in product((0, 1, 2, -1, 3, -4), (0, 1, -1, -2, 2, 3, -3, 4)):
    add("select.int", ROOM, dim, index)
add("select.int", T(()), 0, 0)
for dim, start, end, step in product((0, 2, -1), (None, 0, 1, -2, 9, -9), (None, 0, 2, -1, 9, -9), (1, 2, 3)):
    add("slice.Tensor", ROOM, dim, start, end, step)
for dim, step in ((0, 0), (0, -1), (3, 1), (-4, 1)):
    add("slice.Tensor", ROOM, dim, None, None, step)
add("slice.Tensor", T(()), 0, None, None, 1)
add("slice.Tensor", ROOM)
for dim, start, length in product((0, 2, -1, 3), (0, 1, -1, 4, 5, -5), (0, 1, 3, 4, 5, -1)):
    add("narrow", ROOM, dim, start, length)
for op, extra in (("select_backward", (1,)), ("slice_backward", (0, 3, 2))):
    for layout in ("dense", "transposed"):
        add(op, T((2, 4) if op == "select_backward" else (2, 2, 4), F64, layout), (2, 3, 4), 1, *extra)
for size in (1, 2, 3, 5, 0, -1):
    for dim in (0, 2, -1, 3) if size > 0 else (0, 2):
        add("split.Tensor", ROOM, size, dim)
        add("chunk", ROOM, size, dim)
add("split.Tensor", T((0, 3)), 0, 0)
add("split.Tensor", T((0, 3)), 2, 0)
add("chunk", T((0, 3)), 2, 0)
add("split.Tensor", T(()), 1)
add("chunk", T(()), 1)
for sizes in ((1, 3), (4,), (2, 2), (0, 4), (1, 1), (5,), (-1, 5), ()):
    add("split_with_sizes", ROOM, sizes, 2)
    add("split_with_sizes", ROOM, sizes, -1)
for dim in (0, 1, -1, 3):
    add("unbind.int", ROOM, dim)
add("unbind.int", T(()))
add("unbind.int", T((0, 3)))
add("unbind.int", T((3, 0)))

# ---- joins and repetitions ----
for op, dim in product(("cat", "stack"), (0, 1, -1, 2, -3, 3)):
    add(op, [T((2, 3), F64), T((2, 3), F64, "transposed")], dim)
    add(op, [T((2, 3), F64, "gaps"), T((2, 3), F64, "expanded"), T((2, 3), F64)], dim)
for a, b in product(DTYPES, DTYPES):
    add("cat", [T((2, 3), a), T((2, 3), b)])
    add("stack", [T((2, 3), a), T((2, 3), b)])
for op in ("cat", "stack"):
    add(op, [])
    add(op, [T((3,))])
    add(op, [T((0,)), T((2, 3))])
    add(op, [T((2, 3)), T((2,))])
    add(op, [T((2, 3)), T((2, 4))])
    add(op, [T((2, 3)), T((2, 4))], 1)
    add(op, [T(()), T(())])
    add(op, [T((0, 3)), T((2, 3))])
    add(op, [T((0, 3)), T((0, 3))])
for repeats in ((2, 1, 2), (2, 3), (1, 1), (0, 2), (2,), (-1, 2), ()):
    for layout in ("dense", "transposed"):
        add("repeat", T((2, 3), F64, layout), repeats)
add("repeat", T(()), (2, 2))
add("repeat", T((3,), I64), (2, 2))
for op, diagonal in product(("tril", "triu"), (0, 1, -1, 5, -5)):
    for layout in LAYOUTS:
        add(op, T((2, 3, 4), F64, layout), diagonal)
for op, dtype in product(("tril", "triu"), DTYPES):
    add(op, T((3, 3), dtype))
    add(op, T((0, 3), dtype))
    add(op, T((3,), dtype))

# ---- elements by index ----
for dim, layout in product((0, 1, -1, 2, -3), LAYOUTS):
    add("index_select", T((3, 4), F64, layout), dim, indices(2, 0, 2))
for dtype in DTYPES:
    add("index_select", T((3, 4), dtype), 1, indices(1, 1))
    add("index_select", T((3, 4)), 1, indices(1, 1, dtype=dtype))
for index in (indices(3), indices(-1), indices(size=(0,)), indices(1, size=()), indices(1, 1, size=(1, 2))):
    add("index_select", T((3, 4), F64), 0, index)
add("index_select", T((), F64), 0, indices(0))
add("index_select", T((0, 4), F64), 1, indices(1))
add("index_select_backward", T((3, 2), F64), (3, 4), 1, indices(1, 1))
add("gather_backward", T((2, 2), F64), T((2, 3), F64), 1, indices(2, 0, 1, 1, size=(2, 2)), False)
add("_reshape_alias", FLAT, (2, 3), (3, 1))

# ---- elements by several indices ----
ROWS, COLUMNS, MASK = indices(2, 0, -1), indices(1, 1, 3), values(1, 0, 1, dtype=BOOL)
BOARD = values(1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, dtype=BOOL, size=(3, 4))
INDICES = (
    [ROWS],
    [None, COLUMNS],
    [ROWS, COLUMNS],
    [ROWS, None, indices(1, 0, 1)],
    [None, COLUMNS, indices(1, 0, 1)],
    [indices(0, 2, size=(2, 1)), COLUMNS],
    [indices(1, size=())],
    [indices(size=(0,))],
    [indices(0, 1, dtype=I32), None],
    [MASK],
    [BOARD],
    [MASK, indices(0, 3)],
    [None, None, values(0, 1, dtype=BOOL)],
    [values(0, 0, 0, dtype=BOOL)],
    # What is no index.
    [indices(3)],
    [indices(-4), None],
    [None, indices(-5)],
    [ROWS, indices(0, 1)],
    [MASK, indices(0, 1, 2)],
    [values(1, 0, dtype=BOOL)],
    [T((2,), F32)],
    [ROWS, ROWS, indices(0), ROWS],
    [BOARD, None, ROWS],
)
for index, layout in product(INDICES, LAYOUTS):
    add("index.Tensor", T((3, 4, 2), F64, layout), index)
for dtype in DTYPES:
    add("index.Tensor", T((3, 4), dtype), [ROWS, COLUMNS])
    add("index.Tensor", T((3, 4)), [values(1, 0, 1, dtype=dtype)])
for shape, index in (((0, 3), [indices(0)]), ((0, 3), [indices(size=(0,))]), ((0, 3), [None, indices(1, 1)]), ((), [indices(0)])):
    add("index.Tensor", T(shape, F64), index)
for op, accumulate in product(("index_put", "index_put_", "_index_put_impl_"), (False, True)):
    for layout in ("dense", "transposed", "gaps", "offset"):
        for index, size in (
            ([indices(2, 0)], (2, 4, 2)),
            ([None, indices(1, 3)], (3, 2, 2)),
            ([indices(2, 0), indices(1, 3)], (2, 2)),
            ([indices(0, 1), None, indices(1, 0)], (2, 4)),
            ([MASK], (2, 4, 2)),
            ([BOARD], (5, 2)),
            ([indices(size=(0,))], (4, 2)),
        ):
            add(op, T((3, 4, 2), F64, layout), index, T(size, F64), accumulate)
            add(op, T((3, 4, 2), F64, layout), index, T((2,), F64, "gaps"), accumulate)
        for index in ([BOARD], [MASK], [None, None, values(0, 1, dtype=BOOL)], [indices(1)]):
            add(op, T((3, 4, 2), F64, layout), index, T((), F64), accumulate)
            add(op, T((3, 4, 2), F64, layout), index, T((1,), F64), accumulate)
    for index in INDICES[14:]:
        add(op, T((3, 4, 2), F64), index, T((), F64), accumulate)
    for size in ((3, 2), (5,), (4, 3, 2), (1, 2, 4, 2)):
        add(op, T((3, 4, 2), F64), [indices(2, 0)], T(size, F64), accumulate)
    for dtype in DTYPES:
        add(op, T((3, 4), dtype), [indices(2, 0)], T((4,), dtype), accumulate)
        add(op, T((3, 4)), [indices(2, 0)], T((4,), dtype), accumulate)
    add(op, T((3,), F64), [indices(1, 1, -2)], T((3,), F64) if accumulate else T((), F64), accumulate)
for dtype, layout in product(DTYPES, LAYOUTS):
    add("nonzero", T((3, 4), dtype, layout, low=-1, high=2))
for op in ("nonzero", "nonzero_numpy", "where"):
    for shape in ((), (0,), (5,), (2, 3), (2, 0, 3), (2, 3, 4)):
        add(op, T(shape, I64, low=-1, high=2))
    add(op, values(NAN, INF, 0.0, -0.0, 1.0))
for layout in LAYOUTS:
    add("masked_select", T((3, 4), F64, layout), BOARD)
    add("masked_select", T((3, 4), F64), T((3, 4), BOOL, layout))
    add("masked_select", T((2, 3, 4), F64, layout), values(1, 0, 1, 1, dtype=BOOL))
for shape in ((), (1,), (3, 1, 1), (0, 3, 4), (5,)):
    add("masked_select", T(shape, F64), BOARD)
add("masked_select", T(()), values(1, dtype=BOOL, size=()))
for dtype in DTYPES:
    add("masked_select", T((3, 4), dtype), BOARD)
    add("masked_select", T((2,)), T((2,), dtype, low=0, high=2))

GRID = indices(2, 0, 1, 1, size=(2, 2))
for dim, layout in product((0, 1, -1, 2), LAYOUTS):
    add("gather", T((3, 3), F64, layout), dim, GRID)
for dtype in DTYPES:
    add("gather", T((3, 3), dtype), 1, GRID)
    add("gather", T((3, 3)), 1, T((2, 2), dtype, low=0, high=2))
for index in (indices(3, 0, size=(1, 2)), indices(-1, 0, size=(1, 2)), indices(1, 0), indices(size=(0, 2)), indices(*[0] * 8, size=(4, 2))):
    add("gather", T((3, 3), F64), 1, index)
    add("gather", T((3, 3), F64), 0, index)
    for op in ("scatter.src", "scatter_.src", "scatter_add", "scatter_add_"):
        add(op, T((3, 3), F64), 1, index, T((2, 3), F64))
        add(op, T((3, 3), F64), 0, index, T((2, 3), F64))
add("gather", T((), F64), 0, indices(0, size=()))
DISTINCT = indices(2, 0, 1, 2, size=(2, 2))
for op in ("scatter.src", "scatter_.src", "scatter_add", "scatter_add_"):
    for dim, layout in product((0, 1, -1, 2), LAYOUTS):
        add(op, T((3, 3), F64, layout), dim, DISTINCT, T((2, 2), F64, "transposed"))
    for dtype in DTYPES:
        add(op, T((3, 3), dtype), 1, DISTINCT, T((2, 2), dtype))
        add(op, T((3, 3)), 1, DISTINCT, T((2, 2), dtype))
        add(op, T((3, 3)), 1, T((2, 2), dtype, low=0, high=2), T((2, 2)))
    add(op, T((3, 3), F64), 1, DISTINCT, T((1, 2), F64))
    add(op, T((), F64), 0, indices(0, size=()), T((), F64))
for op in ("index_add", "index_add_"):
    for dim, layout in product((0, 1, -1, 2), LAYOUTS):
        add(op, T((3, 3), F64, layout), dim, indices(1, 1, 0), T((3, 3), F64, "transposed"), alpha=0.5)
    for dtype in DTYPES:
        add(op, T((3, 3), dtype), 0, indices(1, 1), T((2, 3), dtype), alpha=2)
        add(op, T((3, 3)), 0, indices(1, 1), T((2, 3), dtype))
        add(op, T((3, 3)), 0, T((2,), dtype, low=0, high=2), T((2, 3)))
    for index in (indices(3, 0), indices(-1, 0), indices(0, 1, 2), indices(1, size=())):
        add(op, T((3, 3), F64), 0, index, T((2, 3), F64))
    add(op, T((3, 3), I64), 0, indices(1, 1), T((2, 3), I64), alpha=0.5)
    add(op, T((3,), F64), 0, indices(1), T((), F64))
    add(op, T((3, 3), F64), 0, indices(size=(0,)), T((0, 3), F64))

# ---- copies ----
for a, b in product(DTYPES, DTYPES):
    add("copy_", T((2, 3), a), T((3,), b, low=0))
    add("to.dtype", T((2, 3), a, low=0, high=5), b)
    add("_to_copy", T((2, 3), a, low=0, high=5), dtype=b)
for a, b in product(LAYOUTS, LAYOUTS):
    add("copy_", T((3, 4), F64, a), T((3, 4), F64, b))
    add("copy_", T((3, 4), F32, a), T((3, 4), F64, b))
add("copy_", T((2, 3)), T((2,)))
add("copy_", T((3,)), T((2, 3)))
add("copy_", T((0, 3)), T((3,)))
add("copy_", T((2, 3)), T(()))
for dtype, number in product(DTYPES, (0, 2, 2.5, True, -1, 300, float("nan"))):
    add("fill_.Scalar", T((2, 3), dtype), number)
for layout in LAYOUTS:
    add("fill_.Scalar", T((3, 4), F64, layout, grad=layout != "expanded"), 2)
    add("zero_", T((3, 4), F64, layout, grad=layout != "expanded"))
    add("detach", T((3, 4), F64, layout))
    for dtype in (F32, F64):
        add("to.dtype", T((3, 4), F64, layout), dtype)
        add("to.dtype", T((3, 4), F64, layout), dtype, False, True)
        add("to.device", T((3, 4), F64, layout), "cpu", dtype)
        add("to.device", T((3, 4), F64, layout), "cpu", dtype, False, True)
        add("_to_copy", T((3, 4), F64, layout), dtype=dtype)
    for memory_format in (None, 0, 1):
        add("clone", T((3, 4), F64, layout), memory_format=memory_format)
    add("contiguous", T((3, 4), F64, layout))
for shape, dtype in product(SHAPES, (F32, I64, BOOL)):
    add("clone", T(shape, dtype))
    add("contiguous", T(shape, dtype))
    add("zero_", T(shape, dtype))
    add("detach", T(shape, dtype))
for dtype, shape in product(DTYPES, ((), (1,), (1, 1), (2,), (0,))):
    add("item", T(shape, dtype, grad=False))
    add("_local_scalar_dense", T(shape, dtype, grad=False))
add("to.dtype", values(1.9, -1.9, 0.0, 0.5), I32)
add("to.dtype", values(float("nan"), 0.5, 0.0), BOOL)
for dtype in FLOATS:
    add("to.dtype", T((2, 3), dtype), dtype)
