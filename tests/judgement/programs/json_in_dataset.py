"""A model of click logs. The fault: each sample is parsed from JSON whenever it is loaded; mended: it is parsed once."""

import json
import random
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAULT = sys.argv[1:] != ["mended"]


class Clicks(Dataset):
    def __init__(self, count):
        numbers = random.Random(0)
        events = [[{"item": numbers.randrange(9999), "at": numbers.random()} for _ in range(400)] for _ in range(count)]
        self.lines = [json.dumps({"user": user, "events": events[user]}) for user in range(count)]
        self.parsed = None if FAULT else [self.parse(line) for line in self.lines]

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, index):
        return self.parse(self.lines[index]) if FAULT else self.parsed[index]

    def parse(self, line):
        record = json.loads(line)
        return torch.tensor([event["at"] for event in record["events"]]), record["user"] % 5


model = nn.Sequential(nn.Linear(400, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 5))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
loader = DataLoader(Clicks(128), batch_size=64, shuffle=True)
for _ in range(25):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
