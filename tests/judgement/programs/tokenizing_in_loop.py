"""A language model. The fault: texts are split into tokens by a Python loop in each step; mended: once, before the loop."""

import random
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
VOCABULARY = {f"{a}{b}": number for number, (a, b) in enumerate((a, b) for a in "abcdefghij" for b in "klmnopqrst")}


def tokenize(text):
    ids, rest = [], text
    while rest:
        for length in range(min(8, len(rest)), 0, -1):
            if rest[:length] in VOCABULARY:
                ids.append(VOCABULARY[rest[:length]])
                break
        rest = rest[2:]
    return ids


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 128)
        self.layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
        self.head = nn.Linear(128, 100)

    def forward(self, ids):
        return self.head(self.layer(self.table(ids)))


def make_batch(texts):
    return torch.tensor([tokenize(text) for text in texts])


generator = random.Random(0)
words = list(VOCABULARY)
texts = [["".join(generator.choices(words, k=64)) for _ in range(32)] for _ in range(4)]
ready = [make_batch(batch) for batch in texts]
model = Model()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for step in range(60):
    ids = make_batch(texts[step % 4]) if FAULT else ready[step % 4]
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
    optimizer.step()
