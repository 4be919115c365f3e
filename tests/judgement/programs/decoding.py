"""Images that are stored compressed, loaded by one worker. The fault: each is decoded at full size and made small in Python; mended: small
images are stored."""

import sys
import zlib

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAULT = sys.argv[1:] != ["mended"]
SIDE = 256 if FAULT else 32


def make_image(seed):
    image = numpy.random.default_rng(seed).integers(0, 40, (SIDE, SIDE, 3), dtype=numpy.uint8)
    return zlib.compress(image.tobytes(), 1)


class Images(Dataset):
    def __init__(self):
        self.files = [make_image(seed) for seed in range(8)]

    def __len__(self):
        return 16 * 30

    def __getitem__(self, index):
        return self.decode(self.files[index % 8]), index % 10

    def decode(self, file):
        image = numpy.frombuffer(zlib.decompress(file), dtype=numpy.uint8).reshape(SIDE, SIDE, 3)
        image = torch.from_numpy(image.copy()).permute(2, 0, 1) / 255
        return nn.functional.adaptive_avg_pool2d(image, 32) if FAULT else image


def main():
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 28 * 28, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    for x, y in DataLoader(Images(), batch_size=16, num_workers=1):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
