"""Layers with one matrix, and layers that compute nothing."""

import math

from mindtorch_v2 import _runtime
from mindtorch_v2.nn import functional as F
from mindtorch_v2.nn import init
from mindtorch_v2.nn.module import Module
from mindtorch_v2.nn.parameter import Parameter

_empty = _runtime.ops["empty"]


class Identity(Module):
    """Returns its input; takes and ignores any arguments."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Linear(Module):
    """input @ weight.T + bias."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(_empty((out_features, in_features), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(_empty((out_features,), device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the weights anew."""
        init.kaiming_uniform_(self.weight, math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Embedding(Module):
    """Rows of a table by index."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if max_norm is not None or sparse:
            raise NotImplementedError("Embedding: max_norm and sparse gradients are not supported")
        self.num_embeddings, self.embedding_dim, self.scale_grad_by_freq = num_embeddings, embedding_dim, scale_grad_by_freq
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        if _weight is None:
            self.weight = Parameter(_empty((num_embeddings, embedding_dim), device=device, dtype=dtype), requires_grad=not _freeze)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, scale_grad_by_freq=False):
        """An Embedding of a table that exists."""
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, scale_grad_by_freq=scale_grad_by_freq, _weight=embeddings, _freeze=freeze)

    def reset_parameters(self):
        """Draws the rows anew; that of padding_idx is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, scale_grad_by_freq=self.scale_grad_by_freq)

    def extra_repr(self):
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"


class Flatten(Module):
    """Dimensions from start_dim to end_dim as one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One dimension as several."""

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
