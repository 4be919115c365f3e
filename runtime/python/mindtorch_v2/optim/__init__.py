"""Optimizers and schedules of their learning rates."""

from mindtorch_v2.optim import lr_scheduler
from mindtorch_v2.optim.algorithms import SGD, Adagrad, Adam, AdamW, RMSprop
from mindtorch_v2.optim.optimizer import Optimizer

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
