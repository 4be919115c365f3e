"""What recording costs six small training and inference programs on the CPU: measured, beside what the profiler tells of itself.

Measured: the time of a step while a profile records, and while none does, in turn. Told: the share that `mtprof run` and the monitor print,
from prices that are measured in the same process. Times are those of the thread's own work, so that other programs do not count. Prints
one JSON object per line, as benchmarks/harness.h does.
"""

import json
import os
import statistics
import sys
import time
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(os.environ["MINDTORCH_BUILD_DIR"]) / "python"))

import torch
from mindtorch_v2.profiler import _cost as cost
from mindtorch_v2.profiler import profile
from torch import nn

TURNS, STEPS = 30, 8
OPTIONS = {"times only": {}, "shapes": {"shapes": True}, "stacks": {"stack": True}}


def report(name, told, measured, note):
    line = {"name": f"own_cost/{name}", "ours": told, "peer": "measured", "peer_value": measured, "ratio": told / measured}
    print(json.dumps({**line, "unit": "share of a step", "note": note}), flush=True)


def trained(model, batch, optimizer=torch.optim.SGD):
    chosen = optimizer(model.parameters(), lr=1e-3)

    def step():
        chosen.zero_grad()
        model(batch).square().mean().backward()
        chosen.step()

    return step


def mlp():
    return trained(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)), torch.randn(32, 64), torch.optim.AdamW)


def cnn():
    layers = [nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return trained(nn.Sequential(*layers, nn.Linear(16, 10)), torch.randn(8, 3, 32, 32))


def transformer():
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    return trained(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), torch.randn(4, 16, 64), torch.optim.Adam)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(32, 64), nn.Linear(64, 4)

    def forward(self, batch):
        hidden = torch.zeros(batch.shape[1], 64)
        for each in batch:
            hidden = self.cell(each, hidden)
        return self.out(hidden)


def recurrent():
    return trained(Recurrent(), torch.randn(20, 8, 32))


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(1000, 16) for _ in range(12))
        self.layers = nn.Sequential(nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, batch):
        return self.layers(torch.cat([table(batch) for table in self.tables], 1))


def embeddings():
    return trained(Embeddings(), torch.randint(0, 1000, (64, 5)), torch.optim.Adagrad)


def inference():
    model = nn.Sequential(*[nn.Sequential(nn.Linear(48, 48), nn.LayerNorm(48), nn.GELU()) for _ in range(10)]).eval()
    batch = torch.randn(4, 48)

    def step():
        with torch.no_grad():
            model(batch)

    return step


def usual_step(step) -> float:
    times = []
    for _ in range(STEPS):
        began = time.thread_time_ns()
        step()
        times.append(time.thread_time_ns() - began)
    return statistics.median(times)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for option, chosen in OPTIONS.items():
        asked = {cost._OPTIONS[name]: True for name in chosen}
        for make in (mlp, cnn, transformer, recurrent, embeddings, inference):
            step = make()
            for _ in range(5):
                step()
            prices = cost.measure_prices(SimpleNamespace(**chosen))
            recorded, plain = [], []
            for _ in range(TURNS):
                with profile(**asked, python_calls=False) as prof:
                    step()
                    recorded.append(usual_step(step))
                step()
                plain.append(usual_step(step))
            measured = min(recorded) / min(plain) - 1
            told = cost.Stretch(cost.Work.of(prof) / (STEPS + 1), min(recorded)).share(prices)
            report(make.__name__, round(told, 4), round(measured, 4), option)


if __name__ == "__main__":
    main()
