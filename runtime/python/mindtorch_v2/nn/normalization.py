"""Normalisation layers."""

from mindtorch_v2 import _runtime
from mindtorch_v2.nn import functional as F
from mindtorch_v2.nn import init
from mindtorch_v2.nn.module import Module
from mindtorch_v2.nn.parameter import Parameter

_ones, _zeros = _runtime.ops["ones"], _runtime.ops["zeros"]


def _shape(normalized_shape):
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions, then a weight and a bias for each element."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        options = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(_ones(self.normalized_shape, **options)) if elementwise_affine else None)
        self.register_parameter("bias", Parameter(_zeros(self.normalized_shape, **options)) if elementwise_affine and bias else None)

    def reset_parameters(self):
        """Weights become 1 and biases 0."""
        _reset(self)

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        text = f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        return f"{text}, bias={self.bias is not None}"


class RMSNorm(Module):
    """Root mean square 1 over the last dimensions, then a weight for each element."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        super().__init__()
        self.normalized_shape, self.eps, self.elementwise_affine = _shape(normalized_shape), eps, elementwise_affine
        weight = Parameter(_ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)

    def reset_parameters(self):
        """Weights become 1."""
        _reset(self)

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Mean 0 and variance 1 over groups of channels, then a weight and a bias for each channel."""

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        options = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(_ones((num_channels,), **options)) if affine else None)
        self.register_parameter("bias", Parameter(_zeros((num_channels,), **options)) if affine and bias else None)

    def reset_parameters(self):
        """Weights become 1 and biases 0."""
        _reset(self)

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class _BatchNorm(Module):
    """The base class of batch norms. Subclasses say which inputs they accept."""

    dims = ()

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(_ones((num_features,), **options)) if affine else None)
        self.register_parameter("bias", Parameter(_zeros((num_features,), **options)) if affine and bias else None)
        self.register_buffer("running_mean", _zeros((num_features,), **options) if track_running_stats else None)
        self.register_buffer("running_var", _ones((num_features,), **options) if track_running_stats else None)
        batches = _zeros((), dtype=_runtime.dtypes["int64"], device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", batches)

    def reset_running_stats(self):
        """Resets the statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Sets weights to 1 and biases to 0, and resets the statistics."""
        self.reset_running_stats()
        _reset(self)

    def forward(self, input):
        if input.dim() not in self.dims:
            expected = " or ".join(f"{d}D" for d in self.dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        uses_batch = self.training or self.running_mean is None
        tracks = not self.training or self.track_running_stats
        mean, variance = (self.running_mean, self.running_var) if tracks else (None, None)
        return F.batch_norm(input, mean, variance, self.weight, self.bias, uses_batch, momentum, self.eps)

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Mean 0 and variance 1 for each channel of [batch, channels] or [batch, channels, length]."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Mean 0 and variance 1 for each channel of [batch, channels, height, width]."""

    dims = (4,)


def _reset(module):
    if module._parameters.get("weight") is not None:
        init.ones_(module.weight)
    if module._parameters.get("bias") is not None:
        init.zeros_(module.bias)
