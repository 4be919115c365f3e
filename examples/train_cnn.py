"""Trains a small convolutional network to tell horizontal stripes from vertical ones and from checks.

python examples/train_cnn.py [--steps N] [--device cpu|npu]
"""

import argparse

import mindtorch_v2 as torch
from mindtorch_v2 import nn


def patterns(count, size, device):
    """Noisy images [count, 1, size, size] of three kinds, and their kinds."""
    kinds = torch.randint(3, (count,))
    phase = torch.randint(2, (count, 1, 1))
    row, column = torch.arange(size).reshape(1, size, 1), torch.arange(size).reshape(1, 1, size)
    stripes = [(row + phase) % 2 + 0 * column, (column + phase) % 2 + 0 * row, (row + column + phase) % 2]
    images = torch.stack(stripes, 1)[torch.arange(count), kinds].float()
    return (images + 0.5 * torch.randn(count, size, size)).unsqueeze(1).to(device), kinds.to(device)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU()
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classify = nn.Linear(16, 3)

    def forward(self, x):
        return self.classify(self.pool(self.features(x)).flatten(1))


def train(steps, device="cpu", after_step=lambda: None):
    """The loss of each step."""
    torch.manual_seed(0)
    model = Network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    losses = []
    for step in range(steps):
        images, kinds = patterns(32, 12, device)
        loss = nn.functional.cross_entropy(model(images), kinds)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % max(1, steps // 10) == 0:
            print(f"step {step:4}  loss {losses[-1]:.4f}")
        after_step()
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    losses = train(arguments.steps, arguments.device)
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} in {len(losses)} steps on {arguments.device}")
    return 0 if losses[-1] < losses[0] else 1


if __name__ == "__main__":
    raise SystemExit(main())
