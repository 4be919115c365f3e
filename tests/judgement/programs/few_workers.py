"""Images from a store with latency. The fault: one worker reads them one after the other; mended: eight workers wait at the same time."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAULT = sys.argv[1:] != ["mended"]


def read_object(key):
    time.sleep(0.001)  # the latency of an object store
    return torch.full((3, 32, 32), key % 7 / 7)


class Images(Dataset):
    def __len__(self):
        return 16 * 30

    def __getitem__(self, index):
        return read_object(index), index % 10


def main():
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 28 * 28, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    loader = DataLoader(Images(), batch_size=16, num_workers=1 if FAULT else 8, prefetch_factor=2)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
