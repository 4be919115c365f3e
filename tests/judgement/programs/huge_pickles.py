"""A loader with two workers. The fault: a batch comes with 64,000 Python strings, which are pickled; mended: with one tensor."""

import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAULT = sys.argv[1:] != ["mended"]


class Graphs(Dataset):
    def __init__(self):
        self.edges = torch.randint(0, 500, (32, 4000, 2))
        self.listed = [[f"{a}>{b}" for a, b in edges] for edges in self.edges.tolist()]

    def __len__(self):
        return 16 * 25

    def __getitem__(self, index):
        return self.listed[index % 32] if FAULT else self.edges[index % 32], torch.full((256,), index % 3 - 1.0)


def keep_lists(items):
    edges = [edge for edge, _ in items]
    return edges if FAULT else torch.stack(edges), torch.stack([x for _, x in items])


def main():
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _, x in DataLoader(Graphs(), batch_size=16, num_workers=2, collate_fn=keep_lists):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


if __name__ == "__main__":
    main()
