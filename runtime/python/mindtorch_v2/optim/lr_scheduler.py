"""Schedules of learning rates, with torch's values.

A schedule that can be written as a step from the last value to the next is, so that schedules of one optimizer can be combined.
"""

import math
from bisect import bisect_right
from collections import Counter

from mindtorch_v2.optim.one_cycle import OneCycleLR
from mindtorch_v2.optim.schedule import LRScheduler

__all__ = ["CosineAnnealingLR", "ExponentialLR", "LRScheduler", "LambdaLR", "MultiStepLR", "OneCycleLR", "StepLR"]


class LambdaLR(LRScheduler):
    """The initial learning rate times a function of the epoch, one for all groups or one for each."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, list | tuple):
            self.lr_lambdas = [lr_lambda] * groups
        elif len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        else:
            self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]

    def state_dict(self):
        """Functions are not saved, only attributes of callable objects."""
        state = super().state_dict()
        state["lr_lambdas"] = [None if hasattr(f, "__code__") else dict(f.__dict__) for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        saved = dict(state_dict)
        for function, attributes in zip(self.lr_lambdas, saved.pop("lr_lambdas"), strict=True):
            if attributes is not None:
                function.__dict__.update(attributes)
        self.__dict__.update(saved)


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._current()
        return [lr * self.gamma for lr in self._current()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times gamma at each milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch not in self.milestones:
            return self._current()
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self._current()]

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._current() if self._is_initial else [lr * self.gamma for lr in self._current()]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Down to eta_min along half a cosine of T_max epochs, and up again."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        current, epoch, whole, low = self._current(), self.last_epoch, self.T_max, self.eta_min
        if epoch == 0:
            return current
        if self._steps_seen == 1 and epoch > 0:  # resumed: there is no last value to go on from
            factor = (1 + math.cos(epoch * math.pi / whole)) / 2
            return [low + (base - low) * factor for base in self.base_lrs]
        if (epoch - 1 - whole) % (2 * whole) == 0:  # the lowest point is behind: a step from it has no factor
            rise = (1 - math.cos(math.pi / whole)) / 2
            return [lr + (base - low) * rise for base, lr in zip(self.base_lrs, current, strict=True)]
        factor = (1 + math.cos(math.pi * epoch / whole)) / (1 + math.cos(math.pi * (epoch - 1) / whole))
        return [factor * (lr - low) + low for lr in current]

    def _get_closed_form_lr(self):
        factor = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * factor for base in self.base_lrs]
