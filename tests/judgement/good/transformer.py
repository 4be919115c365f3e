"""A transformer of PyTorch that learns to copy."""

import torch
from torch import nn


class Copier(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)))


model = Copier(200, 128)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for _ in range(20):
    tokens = torch.randint(0, 200, (8, 64))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
    optimizer.step()
