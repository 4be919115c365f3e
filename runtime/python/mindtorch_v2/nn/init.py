"""Initial values of parameters. All functions write to their argument and return it."""

import math

from mindtorch_v2.autograd.grad_mode import no_grad


def calculate_gain(nonlinearity, param=None):
    """The factor that compensates for the effect of a nonlinearity on the standard deviation."""
    if nonlinearity in ("linear", "conv1d", "conv2d", "conv3d", "sigmoid"):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _fans(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive = tensor[0][0].numel() if tensor.dim() > 2 else 1
    return tensor.size(1) * receptive, tensor.size(0) * receptive


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Uniform between a and b."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Normal with this mean and standard deviation."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal, with values outside of [a, b] drawn again."""
    with no_grad():
        tensor.normal_(mean, std, generator=generator)
        while True:
            outside = (tensor < a).logical_or(tensor > b)
            if not bool(outside.any()):
                return tensor
            tensor.copy_(tensor.masked_fill(outside, 0) + tensor.new_empty(tensor.shape).normal_(mean, std) * outside)


def constant_(tensor, val):
    """Sets all elements to the same value."""
    with no_grad():
        return tensor.fill_(val)


def zeros_(tensor):
    """All 0."""
    return constant_(tensor, 0.0)


def ones_(tensor):
    """All 1."""
    return constant_(tensor, 1.0)


def eye_(tensor):
    """The unit matrix."""
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    from mindtorch_v2 import _runtime

    with no_grad():
        return tensor.copy_(_runtime.ops["eye"](*tensor.shape))


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform, so that variances stay the same forwards and backwards."""
    fan_in, fan_out = _fans(tensor)
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / float(fan_in + fan_out))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal, so that variances stay the same forwards and backwards."""
    fan_in, fan_out = _fans(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _kaiming_std(tensor, a, mode, nonlinearity):
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _fans(tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform, for layers before a rectifier."""
    if 0 in tensor.shape:
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal, for layers before a rectifier."""
    if 0 in tensor.shape:
        return tensor
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity), generator)
