"""A small trainer with callbacks. The fault: one of them ranks all weights in Python after each batch; mended: after each epoch."""

import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Callback:
    def on_batch_end(self, trainer):
        pass

    def on_epoch_end(self, trainer):
        pass


class LargestWeights(Callback):
    def largest(self, model):
        return [sorted(parameter.flatten().tolist())[-5:] for parameter in model.parameters()]

    def on_batch_end(self, trainer):
        if FAULT:
            self.largest(trainer.model)

    def on_epoch_end(self, trainer):
        self.largest(trainer.model)


class Trainer:
    def __init__(self, model, callbacks):
        self.model, self.callbacks = model, callbacks
        self.optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def training_step(self, x, y):
        self.optimizer.zero_grad()
        nn.functional.mse_loss(self.model(x), y).backward()
        self.optimizer.step()

    def fit(self, batches):
        for x, y in batches:
            self.training_step(x, y)
            for callback in self.callbacks:
                callback.on_batch_end(self)
        for callback in self.callbacks:
            callback.on_epoch_end(self)


model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 64))
Trainer(model, [Callback(), LargestWeights()]).fit([(torch.randn(1024, 256), torch.randn(1024, 64)) for _ in range(50)])
