"""Trains a small model under torch's profiler and ours: run_program.py NAME FOLDER writes torch.json and ours.json.

A process of its own, because torch's profiler remembers memory of earlier profiles that was freed unseen, and takes what comes to lie there
for it.
"""

import sys
import warnings

STEPS = 2


def models(torch):
    """By name: a function that makes a model and the shape of its input. Each has four classes."""
    nn = torch.nn

    class Lstm(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.head = nn.LSTM(8, 16, num_layers=2, batch_first=True), nn.Linear(16, 4)

        def forward(self, x):
            return self.head(self.lstm(x)[0][:, -1])

    def mlp():
        layers = [part for _ in range(2) for part in (nn.Linear(16, 16), nn.GELU(), nn.LayerNorm(16))]
        return nn.Sequential(*layers, nn.Linear(16, 4)), (32, 16)

    def cnn():
        layers = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 16, 4)]
        return nn.Sequential(*layers), (4, 3, 8, 8)

    def transformer():
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True)
        return nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.Linear(16 * 6, 4)), (4, 6, 16)

    return {"mlp": mlp, "cnn": cnn, "transformer": transformer, "lstm": lambda: (Lstm(), (4, 5, 8))}


def training_step(torch, name):
    """A function that trains one step; steps are alike from here on."""
    torch.manual_seed(0)
    model, shape = models(torch)[name]()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x, target = torch.randn(shape), torch.randint(0, 4, (shape[0],))

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()

    for _ in range(3):
        step()
    return step


def main(name, folder):
    warnings.filterwarnings("ignore")
    import torch
    from mindtorch_v2.profiler import profile

    torch.set_num_threads(1)
    step = training_step(torch, name)
    cpu = [torch.profiler.ProfilerActivity.CPU]
    for file, make, activities in [("torch", torch.profiler.profile, cpu), ("ours", profile, ["cpu"])]:
        with make(activities=activities, record_shapes=True, profile_memory=True) as p:
            for _ in range(STEPS):
                with torch.profiler.record_function("a step"):
                    step()
        p.export_chrome_trace(f"{folder}/{file}.json")


if __name__ == "__main__":
    main(*sys.argv[1:])
