"""A transformer's attention. The fault: it is computed with the whole matrix of scores (the math kernel); mended: by the flash kernel."""

import sys

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

FAULT = sys.argv[1:] != ["mended"]


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.into, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.into(x).chunk(3, -1))
        with sdpa_kernel(SDPBackend.MATH if FAULT else SDPBackend.FLASH_ATTENTION):
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))


model = nn.Sequential(Attention(128, 8), nn.GELU(), Attention(128, 8), nn.Linear(128, 10))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x = torch.randn(2, 512, 128)
for _ in range(12):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
