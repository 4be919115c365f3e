"""A language model that writes. The fault: the whole text goes through the model for each new token; mended: only its last token does, and
keys and values of the others are kept."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, past):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=length > 1)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.feed(x), (k, v)


class Writer(nn.Module):
    def __init__(self, words=1000, width=256, depth=4):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(depth))
        self.head = nn.Linear(width, words)

    def forward(self, ids, pasts):
        x, kept = self.table(ids), []
        for block, past in zip(self.blocks, pasts or [None] * len(self.blocks), strict=True):
            x, new = block(x, past)
            kept.append(new)
        return self.head(x[:, -1]), kept


@torch.no_grad()
def generate(model, ids, count):
    scores, pasts = model(ids, None)
    for _ in range(count):
        new = scores.argmax(-1, keepdim=True)
        ids = torch.cat([ids, new], 1)
        scores, pasts = model(ids, None) if FAULT else model(new, pasts)
    return ids


generate(Writer().eval(), torch.randint(0, 1000, (4, 128)), 100)
