"""Convolutions and pooling."""

import math

from mindtorch_v2 import _runtime
from mindtorch_v2.nn import functional as F
from mindtorch_v2.nn import init
from mindtorch_v2.nn.module import Module
from mindtorch_v2.nn.parameter import Parameter

_empty = _runtime.ops["empty"]


def _tuple(value, count):
    return (value,) * count if isinstance(value, int) else tuple(value)


class _Convolution(Module):
    """What convolutions of all dimensions share; subclasses say how many there are."""

    dims = 0

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode != "zeros":
            raise NotImplementedError(f"padding_mode='{padding_mode}' is not supported, only 'zeros'")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = (_tuple(v, self.dims) for v in (kernel_size, stride, dilation))
        self.padding = self._padding(padding)
        self.weight = Parameter(_empty((out_channels, in_channels // groups, *self.kernel_size), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(_empty((out_channels,), device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _padding(self, padding):
        if not isinstance(padding, str):
            return _tuple(padding, self.dims)
        if padding == "valid":
            return (0,) * self.dims
        if padding != "same":
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}")
        total = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        if any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        if any(t % 2 for t in total):
            raise NotImplementedError("padding='same' is supported for kernels of odd size only")
        return tuple(t // 2 for t in total)

    def reset_parameters(self):
        """Draws the weights anew."""
        init.kaiming_uniform_(self.weight, math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight.size(1) * math.prod(self.kernel_size)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if any(self.padding):
            text += f", padding={self.padding}"
        if any(d != 1 for d in self.dilation):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        return text if self.bias is not None else text + ", bias=False"


class Conv1d(_Convolution):
    """A convolution over sequences [batch, channels, length]."""

    dims = 1

    def forward(self, input):
        return F.conv1d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv2d(_Convolution):
    """A convolution over images [batch, channels, height, width]."""

    dims = 2

    def forward(self, input):
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class MaxPool2d(Module):
    """The largest element of each window."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.dilation, self.return_indices, self.ceil_mode = padding, dilation, return_indices, ceil_mode

    def forward(self, input):
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class AvgPool2d(Module):
    """The mean of each window."""

    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        super().__init__()
        self.kernel_size, self.stride = kernel_size, kernel_size if stride is None else stride
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input):
        return F.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override
        )

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AdaptiveAvgPool2d(Module):
    """Means of windows that give an output of this size."""

    def __init__(self, output_size):
        super().__init__()
        self.output_size = output_size

    def forward(self, input):
        sizes = _tuple(self.output_size, 2)
        return F.adaptive_avg_pool2d(input, [n if s is None else s for s, n in zip(sizes, input.shape[-2:], strict=True)])

    def extra_repr(self):
        return f"output_size={self.output_size}"
