"""A tagger of sequences, loaded by two workers. The fault: collate_fn pads element by element; mended: torch pads."""

import random
import sys

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

FAULT = sys.argv[1:] != ["mended"]


class Sequences(Dataset):
    def __init__(self, count):
        lengths = random.Random(0)
        self.items = [torch.randint(1, 1000, (lengths.randint(300, 400),)) for _ in range(count)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def pad_batch(items):
    if not FAULT:
        return pad_sequence(items, batch_first=True)
    longest = max(len(item) for item in items)
    padded = torch.zeros(len(items), longest, dtype=torch.long)
    for row, item in enumerate(items):
        for column in range(len(item)):
            padded[row, column] = item[column]
    return padded


def main():
    model = nn.Sequential(nn.Embedding(1000, 64), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 5))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    loader = DataLoader(Sequences(16 * 40), batch_size=16, num_workers=2, collate_fn=pad_batch)
    for tokens in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten() % 5).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
