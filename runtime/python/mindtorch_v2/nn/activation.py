"""Activations and dropout."""

from mindtorch_v2.nn import functional as F
from mindtorch_v2.nn.module import Module


class _InPlace(Module):
    """An activation that may overwrite its input."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """max(0, x)."""

    def forward(self, input):
        return F.relu(input, self.inplace)


class ReLU6(_InPlace):
    """x, cut off at 0 and 6."""

    def forward(self, input):
        return F.relu6(input, self.inplace)


class SiLU(_InPlace):
    """x * sigmoid(x)."""

    def forward(self, input):
        return F.silu(input, self.inplace)


class GELU(Module):
    """x times the normal distribution function of x."""

    def __init__(self, approximate="none"):
        super().__init__()
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """x, or negative_slope * x below zero."""

    def __init__(self, negative_slope=0.01, inplace=False):
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """x, or alpha * (exp(x) - 1) below zero."""

    def __init__(self, alpha=1.0, inplace=False):
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def forward(self, input):
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self):
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Hardtanh(Module):
    """x, cut off at min_val and max_val."""

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class Softplus(Module):
    """A smooth max(0, x)."""

    def __init__(self, beta=1.0, threshold=20.0):
        super().__init__()
        self.beta, self.threshold = beta, threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, input):
        return F.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, input):
        return F.sigmoid(input)


class LogSigmoid(Module):
    """The logarithm of the sigmoid."""

    def forward(self, input):
        return F.logsigmoid(input)


class _AlongDim(Module):
    def __init__(self, dim=None):
        super().__init__()
        self.dim = dim

    def extra_repr(self):
        return f"dim={self.dim}"

    def _dim(self, input):
        """torch's choice where none was made."""
        return self.dim if self.dim is not None else 0 if input.dim() in (0, 1, 3) else 1


class Softmax(_AlongDim):
    """exp(x) divided by its sum along a dimension."""

    def forward(self, input):
        return F.softmax(input, self._dim(input))


class LogSoftmax(_AlongDim):
    """The logarithm of Softmax."""

    def forward(self, input):
        return F.log_softmax(input, self._dim(input))


class Dropout(Module):
    """Sets elements to 0 with probability p while training, and scales the others up."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"
