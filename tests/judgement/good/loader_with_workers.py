"""Training that two workers feed in time."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    data = TensorDataset(torch.randn(64 * 30, 256), torch.randint(0, 10, (64 * 30,)))
    for x, y in DataLoader(data, batch_size=64, num_workers=2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
