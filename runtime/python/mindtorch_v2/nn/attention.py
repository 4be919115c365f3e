"""Attention and the transformer's encoder layer."""

import math

from mindtorch_v2 import _runtime
from mindtorch_v2.nn import functional as F
from mindtorch_v2.nn import init
from mindtorch_v2.nn.activation import Dropout
from mindtorch_v2.nn.linear import Linear
from mindtorch_v2.nn.module import Module
from mindtorch_v2.nn.normalization import LayerNorm
from mindtorch_v2.nn.parameter import Parameter

_ops = _runtime.ops


def _as_bias(mask, dtype):
    """What a mask adds to scores: -inf where a bool mask is true."""
    if mask.dtype != _runtime.dtypes["bool"]:
        return mask.to(dtype)
    return _ops["zeros"](mask.shape, dtype=dtype, device=mask.device).masked_fill_(mask, -math.inf)


class MultiheadAttention(Module):
    """Attention of several heads. In bool masks, true is what may not be looked at."""

    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if add_bias_kv or add_zero_attn or kdim not in (None, embed_dim) or vdim not in (None, embed_dim):
            raise NotImplementedError("add_bias_kv, add_zero_attn and keys and values of another width are not supported")
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead")
        if embed_dim % num_heads != 0:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.head_dim = embed_dim // num_heads
        options = {"device": device, "dtype": dtype}
        self.in_proj_weight = Parameter(_ops["empty"]((3 * embed_dim, embed_dim), **options))
        self.register_parameter("in_proj_bias", Parameter(_ops["zeros"]((3 * embed_dim,), **options)) if bias else None)
        self.out_proj = Linear(embed_dim, embed_dim, bias, **options)
        init.xavier_uniform_(self.in_proj_weight)
        if bias:
            init.zeros_(self.out_proj.bias)

    def _project(self, query, key, value):
        """One product for all three where the inputs are the same."""
        if query is key and key is value:
            return F.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, -1)
        weights = self.in_proj_weight.chunk(3, 0)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3, 0)
        return [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)]

    def _heads(self, projected):
        return projected.reshape(projected.size(0), projected.size(1), self.num_heads, -1).transpose(1, 2)

    def _bias(self, query, key, key_padding_mask, attn_mask):
        """Both masks together, broadcast to [batch, heads, queries, keys]."""
        bias = None
        if attn_mask is not None:
            bias = _as_bias(attn_mask, query.dtype)
            if bias.dim() == 3:
                bias = bias.reshape(query.size(0), self.num_heads, query.size(1), key.size(1))
        if key_padding_mask is not None:
            padding = _as_bias(key_padding_mask, query.dtype).reshape(query.size(0), 1, 1, key.size(1))
            bias = padding if bias is None else bias + padding
        return bias

    def forward(
        self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False
    ):
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        is_batched = query.dim() == 3
        same_key, same_value = key is query, value is key
        if not is_batched:
            query, key, value = (x.unsqueeze(0 if self.batch_first else 1) for x in (query, key, value))
        if not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        key = query if same_key else key
        value = key if same_value else value
        bias = self._bias(query, key, key_padding_mask, attn_mask)
        queries, keys, values = (self._heads(x) for x in self._project(query, key, value))
        drop = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scores = (queries * (1.0 / math.sqrt(self.head_dim))) @ keys.transpose(-2, -1)
            weights = F.softmax(scores if bias is None else scores + bias, -1)
            if drop > 0:
                weights = F.dropout(weights, drop)
            heads = weights @ values
            weights = weights.mean(1) if average_attn_weights else weights
        else:
            heads = F.scaled_dot_product_attention(queries, keys, values, bias, drop)
        output = self.out_proj(heads.transpose(1, 2).reshape(query.size(0), query.size(1), self.embed_dim))
        if not self.batch_first:
            output = output.transpose(0, 1)
        if not is_batched:
            output = output.squeeze(0 if self.batch_first else 1)
            weights = None if weights is None else weights.squeeze(0)
        return output, weights


class TransformerEncoderLayer(Module):
    """Self-attention and two linear layers, each with a residual connection and a layer norm."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **options)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias, **options)
        self.dropout1, self.dropout2 = Dropout(dropout), Dropout(dropout)
        if isinstance(activation, str):
            activation = {"relu": F.relu, "gelu": F.gelu}[activation]
        self.activation = activation

    def _attend(self, x, mask, padding_mask):
        return self.dropout1(self.self_attn(x, x, x, padding_mask, False, mask)[0])

    def _feed_forward(self, x):
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        if self.norm_first:
            x = src + self._attend(self.norm1(src), src_mask, src_key_padding_mask)
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(src + self._attend(src, src_mask, src_key_padding_mask))
        return self.norm2(x + self._feed_forward(x))
