"""Images with transforms in two workers. The fault: colours are changed pixel by pixel with numpy's scalars; mended: whole images."""

import sys

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

FAULT = sys.argv[1:] != ["mended"]


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class Flip:
    def __call__(self, image):
        return image[:, ::-1]


class Gamma:
    def __call__(self, image):
        if not FAULT:
            return (255 * (image / 255) ** 0.8).astype(numpy.uint8)
        changed = image.copy()
        for row in range(image.shape[0]):
            for column in range(image.shape[1]):
                for channel in range(3):
                    changed[row, column, channel] = 255 * (image[row, column, channel] / 255) ** 0.8
        return changed


class ToTensor:
    def __call__(self, image):
        return torch.from_numpy(image.copy()).permute(2, 0, 1).float() / 255


class Photos(Dataset):
    def __init__(self, transform):
        self.transform = transform
        self.images = numpy.random.default_rng(0).integers(0, 255, (16, 32, 32, 3), dtype=numpy.uint8)

    def __len__(self):
        return 16 * 40

    def __getitem__(self, index):
        return self.transform(self.images[index % 16]), index % 10


def main():
    model = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 28 * 28, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    loader = DataLoader(Photos(Compose([Flip(), Gamma(), ToTensor()])), batch_size=16, num_workers=2)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


if __name__ == "__main__":
    main()
