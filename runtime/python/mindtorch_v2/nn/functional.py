"""Layers as functions, with torch's arguments."""

from mindtorch_v2 import _runtime

_ops = _runtime.ops

# Ops whose arguments are the same in torch.nn.functional.
adaptive_avg_pool2d = _ops["adaptive_avg_pool2d"]
avg_pool2d = _ops["avg_pool2d"]
conv1d = _ops["conv1d"]
conv2d = _ops["conv2d"]
gelu = _ops["gelu"]
linear = _ops["linear"]
logsigmoid = _ops["log_sigmoid"]
sigmoid = _ops["sigmoid"]
softplus = _ops["softplus"]
tanh = _ops["tanh"]

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _reduction(name):
    if name not in _REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return _REDUCTIONS[name]


# ---- activations ----


def relu(input, inplace=False):
    """max(0, x)."""
    return _ops["relu_"](input) if inplace else _ops["relu"](input)


def silu(input, inplace=False):
    """x * sigmoid(x)."""
    return _ops["silu_"](input) if inplace else _ops["silu"](input)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x, or negative_slope * x below zero."""
    return _ops["leaky_relu_" if inplace else "leaky_relu"](input, negative_slope)


def elu(input, alpha=1.0, inplace=False):
    """x, or alpha * (exp(x) - 1) below zero."""
    return _ops["elu_" if inplace else "elu"](input, alpha)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x, cut off at min_val and max_val."""
    return _ops["clamp_" if inplace else "clamp"](input, min_val, max_val)


def relu6(input, inplace=False):
    """x, cut off at 0 and 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def softmax(input, dim, dtype=None):
    """exp(x) divided by its sum along a dimension."""
    return _ops["softmax"](input, dim, dtype)


def log_softmax(input, dim, dtype=None):
    """The logarithm of softmax()."""
    return _ops["log_softmax"](input, dim, dtype)


def glu(input, dim=-1):
    """The first half times the sigmoid of the second."""
    a, b = input.chunk(2, dim)
    return a * b.sigmoid()


def normalize(input, p=2.0, dim=1, eps=1e-12):
    """x divided by its norm along a dimension."""
    return input / input.norm(p, dim, True).clamp_min(eps).expand_as(input)


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along a dimension."""
    lengths = x1.norm(2, dim).clamp_min(eps) * x2.norm(2, dim).clamp_min(eps)
    return (x1 * x2).sum(dim) / lengths


def dropout(input, p=0.5, training=True, inplace=False):
    """Sets elements to 0 with probability p while training, and scales the others up."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    result = _ops["dropout"](input, p, training)
    return input.copy_(result) if inplace else result


# ---- embeddings ----


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """Rows of the weight by index."""
    if max_norm is not None or sparse:
        raise NotImplementedError("embedding: max_norm and sparse gradients are not supported")
    if padding_idx is None:
        padding_idx = -1
    elif padding_idx < 0:
        padding_idx += weight.size(0)
    return _ops["embedding"](weight, input, padding_idx, scale_grad_by_freq, False)


def one_hot(tensor, num_classes=-1):
    """A vector with a single one for each class number."""
    if num_classes == -1:
        num_classes = int(tensor.max()) + 1
    classes = _ops["arange"](num_classes, device=tensor.device)
    return (tensor.unsqueeze(-1) == classes).to(_runtime.dtypes["int64"])


# ---- normalisation ----


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Mean 0 and variance 1 over the last dimensions."""
    return _ops["layer_norm"](input, list(normalized_shape), weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Root mean square 1 over the last dimensions."""
    return _ops["rms_norm"](input, list(normalized_shape), weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Mean 0 and variance 1 over groups of channels."""
    return _ops["group_norm"](input, num_groups, weight, bias, eps)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    """Mean 0 and variance 1 for each channel, over the batch or by the running statistics."""
    if training and input.numel() == input.shape[1]:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
    return _ops["batch_norm"](input, weight, bias, running_mean, running_var, training, momentum, eps, False)


# ---- pooling and shapes ----


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of each window."""
    stride = [] if stride is None else stride
    op = _ops["max_pool2d_with_indices" if return_indices else "max_pool2d"]
    return op(input, kernel_size, stride, padding, dilation, ceil_mode)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Windows of an image as columns."""
    return _ops["im2col"](input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def pad(input, pad, mode="constant", value=None):
    """More elements at the ends of the last dimensions: (left, right, top, bottom, ...)."""
    if mode != "constant":
        raise NotImplementedError(f"pad: mode '{mode}' is not supported, only 'constant'")
    sizes, start = list(input.shape), [0] * input.dim()
    for i in range(len(pad) // 2):
        d = input.dim() - 1 - i
        sizes[d] += pad[2 * i] + pad[2 * i + 1]
        start[d] = pad[2 * i]
    padded = _ops["full"](sizes, 0 if value is None else value, dtype=input.dtype, device=input.device)
    inner, source = padded, input
    for d, (size, at) in enumerate(zip(input.shape, start, strict=True)):
        source = source.narrow(d, max(0, -at), max(0, min(size, sizes[d] - at) - max(0, -at)))
        inner = inner.narrow(d, max(0, at), source.size(d))
    inner.copy_(source)
    return padded


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """softmax(query @ key^T * scale + mask) @ value."""
    return _ops["scaled_dot_product_attention"](query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)


# ---- losses ----


def mse_loss(input, target, reduction="mean"):
    """The squared difference."""
    return _ops["mse_loss"](input, target, _reduction(reduction))


def l1_loss(input, target, reduction="mean"):
    """The absolute difference."""
    return _ops["l1_loss"](input, target, _reduction(reduction))


def smooth_l1_loss(input, target, reduction="mean", beta=1.0):
    """Squared below beta, absolute above."""
    return _ops["smooth_l1_loss"](input, target, _reduction(reduction), beta)


def huber_loss(input, target, reduction="mean", delta=1.0):
    """smooth_l1_loss() times delta."""
    return smooth_l1_loss(input, target, reduction, delta) * delta


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """The negative logarithm of the softmax of the right class."""
    return _ops["cross_entropy_loss"](input, target, weight, _reduction(reduction), ignore_index, label_smoothing)


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """The negative of the right class's entry."""
    return _ops["nll_loss_nd"](input, target, weight, _reduction(reduction), ignore_index)


def binary_cross_entropy_with_logits(input, target, weight=None, reduction="mean", pos_weight=None):
    """Binary cross entropy of sigmoid(input)."""
    return _ops["binary_cross_entropy_with_logits"](input, target, weight, pos_weight, _reduction(reduction))


def binary_cross_entropy(input, target, weight=None, reduction="mean"):
    """Binary cross entropy of probabilities; logarithms are cut off at -100."""
    loss = -(target * input.log().clamp_min(-100.0) + (1 - target) * (1 - input).log().clamp_min(-100.0))
    return _reduced(loss if weight is None else loss * weight, reduction)


def kl_div(input, target, reduction="mean", log_target=False):
    """The Kullback-Leibler divergence; the input holds logarithms."""
    if log_target:
        loss = target.exp() * (target - input)
    else:
        positive = target > 0
        safe = _ops["where"](positive, target, _ops["ones_like"](target))
        loss = _ops["where"](positive, target * (safe.log() - input), _ops["zeros_like"](target) - target * input)
    if reduction == "batchmean":
        return loss.sum() / input.size(0)
    return _reduced(loss, reduction)


def _reduced(loss, reduction):
    kind = _reduction(reduction)
    return loss if kind == 0 else loss.mean() if kind == 1 else loss.sum()


def softmin(input, dim, dtype=None):
    """softmax() of the negative."""
    return softmax(-input, dim, dtype)
