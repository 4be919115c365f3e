"""An LSTM on sequences."""

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm, self.head = nn.Embedding(500, 64), nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 9)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0])


model = Tagger()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
tokens = torch.randint(0, 500, (32, 40))
for _ in range(20):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten() % 9).backward()
    optimizer.step()
