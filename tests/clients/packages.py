"""Packages that profile with torch.profiler, run themselves: what they write and return. See clients.py."""

import glob
import os

import torch
from clients import client

CLIENTS = {}


def package(function):
    client(function.__name__, CLIENTS)(function)
    return function


def loader():
    return torch.utils.data.DataLoader([torch.ones(8) * number for number in range(12)], batch_size=2)


@package
def lightning(profiler, older, folder):
    from lightning.pytorch import LightningModule, Trainer
    from lightning.pytorch.profilers import PyTorchProfiler

    class Regression(LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch, number):
            return self.layer(batch).pow(2).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

    own = PyTorchProfiler(dirpath=folder, filename="summary", schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1))
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    trainer = Trainer(max_epochs=1, accelerator="cpu", profiler=own, default_root_dir=folder, **quiet)
    trainer.fit(Regression(), loader())
    return own.function_events is not None, len(glob.glob("*.json")) > 0


@package
def accelerate(profiler, older, folder):
    from accelerate import Accelerator, ProfileKwargs

    ready = []
    options = ProfileKwargs(
        activities=["cpu"],
        schedule_option={"wait": 1, "warmup": 1, "active": 1, "repeat": 2, "skip_first": 0},
        on_trace_ready=lambda prof: ready.append(sorted({event.name for event in prof.events() if event.name.startswith("aten::")})),
        output_trace_dir=os.path.join(folder, "traces"),
        record_shapes=True,
    )
    accelerator = Accelerator(cpu=True, kwargs_handlers=[options])
    model = torch.nn.Linear(8, 1)
    model, optimizer, batches = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.01), loader())
    with accelerator.profile() as prof:
        for batch in batches:
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    return ready
