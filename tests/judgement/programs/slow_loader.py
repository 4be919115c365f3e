"""A classifier of texts. The fault: each sentence is encoded character by character whenever it is loaded; mended: once."""

import random
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAULT = sys.argv[1:] != ["mended"]
WORDS, LENGTH = 512, 64


class Sentences(Dataset):
    def __init__(self, count):
        letters = random.Random(0)
        self.lines = ["".join(letters.choices("abcdefgh ", k=4000)) for _ in range(count)]
        self.labels = [index % 4 for index in range(count)]
        self.encoded = None if FAULT else [self.encode(line) for line in self.lines]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.encoded[index] if self.encoded else self.encode(self.lines[index]), self.labels[index]

    def encode(self, line):
        counts = [0] * WORDS
        state = 0
        for letter in line:
            state = (state * 31 + ord(letter)) % WORDS
            counts[state] += 1
        return torch.tensor(counts, dtype=torch.float32)


model = nn.Sequential(nn.Linear(WORDS, 1536), nn.ReLU(), nn.Linear(1536, 1536), nn.ReLU(), nn.Linear(1536, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
loader = DataLoader(Sentences(32), batch_size=32, shuffle=True)
for _ in range(30):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
