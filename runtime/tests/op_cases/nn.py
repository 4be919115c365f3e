"""The ops of neural networks: losses, normalisation, convolution, pooling, embedding, dropout, attention, and their backward ops."""

from itertools import product

from .spec import BOOL, DTYPES, F32, F64, FLOATS, I32, I64, INF, LAYOUTS, T, add, indices, values

NONE, MEAN, SUM = 0, 1, 2

# ---- losses ----
for op in ("mse_loss", "l1_loss", "smooth_l1_loss"):
    for reduction, dtype in product((NONE, MEAN, SUM), FLOATS):
        add(op, T((2, 3), dtype), T((2, 3), dtype, "transposed"), reduction)
        add(op, T((0, 3), dtype), T((0, 3), dtype), reduction)
        add(op, T((), dtype), T((), dtype), reduction)
        # The gradient of a target that is broadcast is another one in torch, and wrong.
        add(op, T((2, 3), dtype), T((3,), dtype, grad=False), reduction)
    for dtype in DTYPES:
        add(op, T((2, 3), dtype), T((2, 3), dtype))
        add(op, T((2, 3)), T((2, 3), dtype))
    add(op, T((2, 3)), T((2,)))
for beta in (1.0, 0.5, 0.0, -1.0):
    for reduction in (NONE, MEAN, SUM):
        add("smooth_l1_loss", T((3, 4), F64), T((3, 4), F64), reduction, beta)
        add("smooth_l1_loss_backward", T((3, 4) if reduction == NONE else (), F64), T((3, 4), F64), T((3, 4), F64), reduction, abs(beta))
for reduction in (NONE, MEAN, SUM):
    add("mse_loss_backward", T((3, 4) if reduction == NONE else (), F64), T((3, 4), F64), T((3, 4), F64), reduction)
    for weight, pos_weight in product((None, T((3,), F64, low=0.1, grad=False)), repeat=2):
        add(
            "binary_cross_entropy_with_logits",
            T((2, 3), F64, low=-20, high=20),
            T((2, 3), F64, low=0, high=1),
            weight,
            pos_weight,
            reduction,
        )
add("binary_cross_entropy_with_logits", T((0, 3)), T((0, 3)), twice=False)

TARGET = indices(2, 0, 1, 2)
for reduction, dtype in product((NONE, MEAN, SUM), FLOATS):
    weight = T((3,), dtype, low=0.1, grad=False)
    for op in ("nll_loss_nd", "nll_loss", "nll_loss_forward", "cross_entropy_loss"):
        for given, ignored in product((None, weight), (-100, 2, 1)):
            add(op, T((4, 3), dtype), TARGET, given, reduction, ignored)
            add(op, T((4, 3), dtype, "transposed"), TARGET, given, reduction, ignored)
        if (op, reduction) != ("nll_loss_forward", NONE):  # what the second output holds is not said
            add(op, T((3,), dtype), indices(1, size=()), None, reduction, -100)
        add(op, T((0, 3), dtype), indices(size=(0,)), None, reduction, -100)
        add(op, T((4, 3), dtype), indices(-100, -100, -100, -100), None, reduction, -100)
    pixels = indices(2, 0, 1, 2, 1, 1, 0, 2, size=(2, 2, 2))
    for op in ("nll_loss_nd", "nll_loss2d", "nll_loss2d_forward", "cross_entropy_loss"):
        for given, ignored, layout in product((None, weight), (-100, 2), ("dense", "transposed")):
            add(op, T((2, 3, 2, 2), dtype, layout), pixels, given, reduction, ignored)
    add("nll_loss_nd", T((2, 3, 2), dtype), indices(2, 0, 1, 2, size=(2, 2)), None, reduction)
    add("cross_entropy_loss", T((2, 3, 2), dtype), indices(2, 0, 1, 2, size=(2, 2)), None, reduction)
    for smoothing, given, ignored in product((0.1, 1.0), (None, weight), (-100, 2)):
        add("cross_entropy_loss", T((4, 3), dtype), TARGET, given, reduction, ignored, smoothing)
        add("cross_entropy_loss", T((2, 3, 2, 2), dtype), pixels, given, reduction, ignored, smoothing)
    add("cross_entropy_loss", T((4, 3), dtype), T((4, 3), dtype, low=0, high=1), None, reduction)
    add("cross_entropy_loss", T((4, 3), dtype), T((4, 3), dtype, low=0, high=1), weight, reduction, -100, 0.2)
    total = values(4.0, size=(), dtype=dtype, grad=False)
    add("nll_loss_backward", T((4,) if reduction == NONE else (), dtype), T((4, 3), dtype), TARGET, None, reduction, -100, total)
    add("nll_loss_backward", T((4,) if reduction == NONE else (), dtype), T((4, 3), dtype), TARGET, weight, reduction, 2, total)
    grad = T((2, 2, 2) if reduction == NONE else (), dtype)
    add("nll_loss2d_backward", grad, T((2, 3, 2, 2), dtype), pixels, weight, reduction, 2, total)
for op in ("nll_loss_nd", "cross_entropy_loss"):
    add(op, T((4, 3)), indices(3, 0, 0, 0))
    add(op, T((4, 3)), indices(-1, 0, 0, 0))
    add(op, T((4, 3)), indices(0, 0, 0))
    add(op, T((4, 3)), TARGET, T((2,), grad=False))
    add(op, T((4, 3)), indices(2, 0, 1, 2, dtype=I32))
    add(op, T((4, 3)), T((4,)))
    add(op, T((4, 3), I64), TARGET)
    add(op, T((2, 3, 2, 2)), TARGET)

# ---- embedding and dropout ----
for layout, dtype in product(LAYOUTS, FLOATS):
    add("embedding", T((4, 3), dtype, layout), indices(1, 0, 1, 3, size=(2, 2)))
for padding, by_frequency in product((-1, 1), (False, True)):
    # Gradients divided by the frequency are not differentiated again here, and wrongly by torch.
    add("embedding", T((4, 3), F64), indices(1, 0, 1, 3), padding, by_frequency, twice=not by_frequency)
    grad = T((4, 3), F64, grad=not by_frequency)
    add("embedding_dense_backward", grad, indices(1, 0, 1, 3), 5, padding, by_frequency)
    add("embedding_backward", grad, indices(1, 0, 1, 3), 5, padding, by_frequency, False)
for index in (
    indices(4),
    indices(-1),
    indices(size=(0,)),
    indices(2, size=()),
    indices(1, 2, dtype=I32),
    T((2,), F32, grad=False),
    T((2,), BOOL),
):
    add("embedding", T((4, 3)), index)
add("embedding", T((4,)), indices(1))
add("embedding", T((4, 3), I64), indices(1))
for dtype, train in product(FLOATS, (True, False)):
    for p in (0.0, 1.0):
        add("dropout", T((3, 4), dtype), p, train)
        add("native_dropout", T((3, 4), dtype), p, train)
    add("dropout", T((3, 4), dtype), 0.5, train, compares_values=False)
    add("native_dropout", T((3, 4), dtype, "transposed"), 0.5, train, compares_values=False)
for p in (-0.1, 1.1):
    add("dropout", T((3,)), p, True)
    add("native_dropout", T((3,)), p, True)
add("native_dropout", T((3,)), 0.0, None)
add("dropout", T((3,), I64), 0.5, True)
add("native_dropout_backward", T((3, 4), F64), T((3, 4), BOOL), 2.0)

# ---- normalisation ----
for dtype, layout in product(FLOATS, LAYOUTS):
    for weight, bias in product((None, T((4,), dtype)), repeat=2):
        add("layer_norm", T((3, 4), dtype, layout), (4,), weight, bias)
        add("native_layer_norm", T((3, 4), dtype, layout), (4,), weight, bias, 1e-5)
    for weight in (None, T((4,), dtype)):
        add("rms_norm", T((3, 4), dtype, layout), (4,), weight)
        add("_fused_rms_norm", T((3, 4), dtype, layout), (4,), weight, 1e-5, grads_of=1)
for shape, normal in (((2, 3, 4), (3, 4)), ((0, 4), (4,)), ((4,), (4,)), ((3, 4), (3,)), ((3, 4), ()), ((), ())):
    add("layer_norm", T(shape, F64), normal)
    add("rms_norm", T(shape, F64), normal)
    add("native_layer_norm", T(shape, F64), normal, None, None, 0.1)
add("layer_norm", T((3, 4)), (4,), T((3,)))
add("layer_norm", T((3, 4)), (4,), None, T((3,)))
add("rms_norm", T((3, 4)), (4,), T((3,)))
add("layer_norm", T((3, 4), I64), (4,))
add("rms_norm", T((3, 4), F64), (4,), None, 0.1)
# These are differentiated as part of the norms' own second derivatives.
for mask in ((1, 1, 1), (1, 0, 0), (0, 1, 1), (0, 0, 1)):
    matrix, row, moments = T((3, 4), F64, grad=False), T((4,), F64, grad=False), [T((3, 1), F64, low=0.5, grad=False)] * 2
    add("native_layer_norm_backward", matrix, T((3, 4), F64, "transposed", grad=False), (4,), *moments, row, row, mask)
    images, moments = T((2, 4, 3), F64, grad=False), [T((2, 2), F64, low=0.5, grad=False)] * 2
    add("native_group_norm_backward", images, images, *moments, row, 2, 4, 3, 2, mask)
    images, row, moments = T((3, 2, 4), F64, grad=False), T((2,), F64, grad=False), [T((2,), F64, low=0.5, grad=False)] * 2
    for train in (True, False):
        add("native_batch_norm_backward", images, images, row, *moments, *moments, train, 1e-5, mask)
for mask in ((1, 1), (1, 0), (0, 1)):
    matrix, rstd, row = T((3, 4), F64, grad=False), T((3, 1), F64, low=0.5, grad=False), T((4,), F64, grad=False)
    add("_fused_rms_norm_backward", matrix, matrix, (4,), rstd, row, mask)

for dtype, shape, layout in product(FLOATS, ((3, 2), (3, 2, 4), (3, 2, 4, 5)), ("dense", "transposed", "gaps")):
    running = [T((2,), dtype, low=0.5, grad=False) for _ in range(2)]
    for training, affine, tracked in product((True, False), (True, False), (True, False)):
        if not training and not tracked:
            continue
        args = [T(shape, dtype, layout), *([T((2,), dtype)] * 2 if affine else [None] * 2), *(running if tracked else [None] * 2), training]
        add("batch_norm", *args, 0.1, 1e-5, True)
        add("native_batch_norm", *args, 0.1, 1e-5)
        add("_batch_norm_impl_index", *args, 0.1, 1e-5, True)
for shape in ((2,), (1, 2), (3, 4, 2)):
    add("batch_norm", T(shape), T((2,)), T((2,)), None, None, True, 0.1, 1e-5, True)
add("batch_norm", T((3, 2)), None, None, None, None, False, 0.1, 1e-5, True)
add("batch_norm", T((3, 2)), T((3,)), None, None, None, True, 0.1, 1e-5, True)
for dtype, layout, groups in product(FLOATS, ("dense", "transposed", "gaps"), (1, 2, 4)):
    for weight in (None, T((4,), dtype)):
        add("group_norm", T((2, 4, 3), dtype, layout), groups, weight, weight)
        add("native_group_norm", T((2, 4, 3), dtype), weight, weight, 2, 4, 3, groups, 1e-5, grads_of=1)
for shape, groups in (((2, 4, 3), 3), ((2, 4), 2), ((0, 4, 3), 2), ((4,), 2), ((2, 4, 3, 2), 2), ((2, 4, 3), 0)):
    add("group_norm", T(shape), groups)

# ---- convolution ----
for dtype, layout in product(FLOATS, ("dense", "transposed", "gaps")):
    for stride, padding, dilation, groups, bias in ((1, 0, 1, 1, True), (2, 1, 1, 1, False), (1, 2, 2, 2, True)):
        add(
            "conv1d",
            T((2, 4, 7), dtype, layout),
            T((6, 4 // groups, 3), dtype),
            T((6,), dtype) if bias else None,
            stride,
            padding,
            dilation,
            groups,
        )
        args = (T((2, 4, 6, 7), dtype, layout), T((6, 4 // groups, 3, 2), dtype), T((6,), dtype) if bias else None)
        add("conv2d", *args, (stride, 1), (padding, 1), (1, dilation), groups)
        add("convolution", *args, (stride, 1), (padding, 1), (1, dilation), False, (0, 0), groups)
        add("_convolution", *args, (stride, 1), (padding, 1), (1, dilation), False, (0, 0), groups, False, False, True, True)
        grad, image, weight = (T(size, dtype, layout, grad=False) for size in ((2, 6, 4, 6), (2, 4, 6, 7), (6, 4 // groups, 3, 2)))
        add("convolution_backward", grad, image, weight, (6,), (1, 1), (0, 0), (1, 1), False, (0, 0), groups, (1, 1, 1))
for mask in ((1, 0, 0), (0, 1, 1), (0, 0, 1)):
    grad, image, weight = (T(size, grad=False) for size in ((1, 2, 2, 2), (1, 3, 3, 3), (2, 3, 2, 2)))
    add("convolution_backward", grad, image, weight, (2,), (1, 1), (0, 0), (1, 1), False, (0, 0), 1, mask)
for image, weight in (
    ((4, 6, 7), (6, 4, 3, 2)),
    ((0, 4, 6, 7), (6, 4, 3, 2)),
    ((1, 4, 2, 2), (6, 4, 3, 3)),
    ((1, 3, 6, 6), (6, 4, 3, 3)),
    ((1, 4, 3, 3), (6, 4, 3, 3)),
):
    add("conv2d", T(image), T(weight))
add("conv2d", T((1, 4, 6, 6)), T((6, 4, 3, 3)), T((5,)))
add("conv2d", T((1, 4, 6, 6)), T((6, 4, 3, 3), F64))
add("conv2d", T((1, 4, 6, 6)), T((6, 2, 3, 3)), None, 1, 0, 1, 3)
add("conv2d", T((1, 4, 6, 6)), T((6, 4, 3, 3)), None, 0)
add("conv2d", T((1, 4, 6, 6)), T((6, 4, 3, 3)), None, 1, -1)
add("conv2d", T((1, 4, 6, 6)), T((6, 4, 3, 3)), None, 1, 0, 0)
add("conv2d", T((1, 4, 6, 6)), T((6, 4, 1, 1)), None, 2)
add("conv2d", T((1, 4, 6)), T((6, 4, 1)))
add("conv1d", T((4, 7)), T((6, 4, 3)))
for layout in ("dense", "transposed", "gaps"):
    add("im2col", T((2, 3, 5, 6), F64, layout), (2, 3), (1, 1), (1, 0), (2, 1))
    add("col2im", T((2, 12, 16), F64, layout), (5, 5), (2, 2), (1, 1), (0, 0), (1, 1))
add("im2col", T((3, 5, 6)), (2, 2), (2, 1), (0, 1), (1, 2))
add("im2col", T((1, 3, 2, 2)), (3, 3), (1, 1), (0, 0), (1, 1))
add("col2im", T((12, 16)), (5, 5), (2, 2), (1, 1), (0, 0), (1, 1))
add("col2im", T((2, 12, 15)), (5, 5), (2, 2), (1, 1), (0, 0), (1, 1))

# ---- pooling ----
POOLS = ((2, (), 0), ((2, 3), 1, 1), (3, 2, 1), (2, (1, 2), (0, 1)), (7, 1, 0), (2, 1, 2))
for (kernel, stride, padding), ceil, layout in product(POOLS, (False, True), ("dense", "transposed", "gaps")):
    image = T((2, 3, 5, 6), F64, layout)
    add("max_pool2d", image, kernel, stride, padding, 1, ceil)
    add("max_pool2d_with_indices", image, kernel, stride, padding, 1, ceil)
    for include in (True, False):
        add("avg_pool2d", image, kernel, stride, padding, ceil, include)
for dtype in DTYPES:
    add("max_pool2d", T((1, 2, 4, 4), dtype), 2)
    add("adaptive_avg_pool2d", T((1, 2, 4, 4), dtype), (2, 2))
add("max_pool2d", T((4, 4)), 2)
for op in ("max_pool2d", "avg_pool2d"):
    add(op, T((2, 4, 4)), 2)
    add(op, T((0, 2, 4, 4)), 2)
    add(op, T((1, 2, 4, 4)), 0)
    add(op, T((1, 2, 4, 4)), 2, 0)
add("max_pool2d", T((1, 2, 7, 7)), 2, 1, 0, 2)
add("max_pool2d", values(1.0, float("nan"), 2.0, 3.0, INF, 1.0, -INF, -INF, size=(1, 1, 2, 4)), 2)
add("avg_pool2d", T((1, 2, 4, 4)), 2, 1, 0, False, True, 3)
add("avg_pool2d", T((1, 2, 4, 4)), 2, 1, 0, False, True, 0)
for size in ((3, 2), (1, 1), (5, 6), (7, 7), (0, 1)):
    for layout in ("dense", "transposed", "gaps"):
        add("adaptive_avg_pool2d", T((2, 3, 5, 6), F64, layout), size)
        add("_adaptive_avg_pool2d", T((2, 3, 5, 6), F64, layout), size)
add("adaptive_avg_pool2d", T((3, 5, 6)), (2, 3))
add("adaptive_avg_pool2d", T((5, 6)), (2, 3))
add("adaptive_avg_pool2d", T((1, 3, 5, 6)), (-1, 3))
add("_adaptive_avg_pool2d_backward", T((2, 3, 2, 2), F64), T((2, 3, 5, 6), F64))
add("avg_pool2d_backward", T((1, 2, 3, 3), F64), T((1, 2, 4, 4), F64), (2, 2), (1, 1), (0, 0), False, True, None)
add(
    "max_pool2d_with_indices_backward",
    T((1, 1, 1, 2), F64),
    T((1, 1, 2, 4), F64),
    (2, 2),
    (2, 2),
    (0, 0),
    (1, 1),
    False,
    indices(1, 6, size=(1, 1, 1, 2)),
)

# ---- attention ----
for dtype, layout in product(FLOATS, ("dense", "transposed", "gaps")):
    query, key, value = T((2, 2, 3, 4), dtype, layout), T((2, 2, 5, 4), dtype, layout), T((2, 2, 5, 3), dtype, layout)
    for op in ("scaled_dot_product_attention", "_scaled_dot_product_attention_math"):
        add(op, query, key, value)
        if op == "scaled_dot_product_attention":  # which makes numbers of a mask
            add(op, query, key, value, T((3, 5), BOOL))
        add(op, query, key, value, T((2, 1, 3, 5), dtype))
        add(op, query, key, value, None, 0.0, True)
        add(op, query, key, value, scale=0.3)
for op in ("scaled_dot_product_attention", "_scaled_dot_product_attention_math"):
    add(op, T((3, 4), F64), T((5, 4), F64), T((5, 4), F64))
    add(op, T((2, 4, 3, 4), F64), T((2, 2, 5, 4), F64), T((2, 2, 5, 4), F64), enable_gqa=True)
    add(op, T((2, 3, 4)), T((2, 5, 4)), T((2, 5, 4)), T((3, 5)), 0.0, True)
    add(op, T((2, 3, 4)), T((2, 5, 3)), T((2, 5, 4)))
    add(op, T((2, 3, 4)), T((2, 5, 4), F64), T((2, 5, 4)))
    add(op, T((2, 3, 4), I64), T((2, 5, 4), I64), T((2, 5, 4), I64))
nothing = values(*[False] * 15, size=(3, 5), dtype=BOOL)
add("scaled_dot_product_attention", T((2, 2, 3, 4), F64), T((2, 2, 5, 4), F64), T((2, 2, 5, 4), F64), nothing)
