"""A model of tables. The fault: a batch is put together row by row from a table of columns; mended: columns are arrays that are indexed."""

import csv
import io
import random
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
COLUMNS = [f"c{number}" for number in range(24)]


class Table:
    def __init__(self, rows):
        generator = random.Random(0)
        file = io.StringIO()
        writer = csv.writer(file)
        writer.writerows([[f"{generator.random():.6f}" for _ in COLUMNS] for _ in range(rows)])
        file.seek(0)
        self.rows = list(csv.DictReader(file, COLUMNS))
        self.array = torch.tensor([[float(row[column]) for column in COLUMNS] for row in self.rows])


def batch_of(table, indices):
    if not FAULT:
        return table.array[indices]
    features = []
    for index in indices.tolist():
        row = table.rows[index]
        features.append([float(row[column]) for column in COLUMNS])
    return torch.tensor(features)


def main():
    table = Table(4096)
    model = nn.Sequential(nn.Linear(24, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(60):
        x = batch_of(table, torch.randint(0, 4096, (1024,)))
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()


main()
