"""Many short epochs. The fault: the two workers of the loader are started again in each; mended: they are kept."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FAULT = sys.argv[1:] != ["mended"]


def main():
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    data = TensorDataset(torch.randn(64 * 4, 256), torch.randint(0, 10, (64 * 4,)))
    loader = DataLoader(data, batch_size=64, num_workers=2, persistent_workers=not FAULT)
    for _ in range(12):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
