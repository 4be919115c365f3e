"""Schedules of learning rates, with torch's values.

A schedule that can be written as a step from the last value to the next is, so that schedules of one optimizer can be combined.
"""

import math
import warnings
from bisect import bisect_right
from collections import Counter

from mindtorch_v2.optim.optimizer import Optimizer


class LRScheduler:
    """Sets the learning rates of an optimizer's groups; step() goes on to the next epoch. Subclasses define get_lr()."""

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group["initial_lr"] = group.get("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0.\n"
                    "This typically happens when:\n1. You're trying to resume training from a checkpoint but haven't properly loaded "
                    "the optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._steps_seen = 0
        self._watch_order()
        self._is_initial = True
        self.step()
        self._is_initial = False

    def _watch_order(self):
        """Counts the optimizer's steps, to warn if the schedule goes ahead of the first one."""
        self._count = {"steps": 0}
        count = self._count
        self.optimizer.register_step_post_hook(lambda *_: count.__setitem__("steps", count["steps"] + 1))

    def get_lr(self):
        """The learning rate of each group in this epoch."""
        raise NotImplementedError

    def get_last_lr(self):
        """The learning rates that were set last."""
        return self._last_lr

    def step(self, epoch=None):
        """Goes on to the next epoch, or to one that is named."""
        if self._steps_seen == 1 and self._count["steps"] == 0:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the "
                "opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the "
                "first value of the learning rate schedule.",
                UserWarning,
                stacklevel=2,
            )
        self._steps_seen += 1
        if epoch is None:
            self.last_epoch += 1
            values = self.get_lr()
        else:
            self.last_epoch = epoch
            values = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            group["lr"] = value
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _current(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    _NOT_SAVED = ("optimizer", "_count", "_is_initial", "_steps_seen")

    def state_dict(self):
        """Everything but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name not in self._NOT_SAVED}

    def load_state_dict(self, state_dict):
        """Goes on where state_dict() was taken."""
        self.__dict__.update(state_dict)


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


class OneCycleLR(LRScheduler):
    """Up to max_lr and down far below the start, once; momentum the other way round."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        self.total_steps = self._length(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_strategy = anneal_strategy
        self._phases = self._make_phases(pct_start, three_phase)
        groups = optimizer.param_groups
        self.cycle_momentum = cycle_momentum
        if last_epoch == -1:
            for group, top in zip(groups, _for_groups("max_lr", groups, max_lr), strict=True):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        if cycle_momentum:
            self._start_momentum(groups, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _length(total_steps, epochs, steps_per_epoch):
        if total_steps is not None:
            if total_steps <= 0 or not isinstance(total_steps, int):
                raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
            return total_steps
        if epochs is None or steps_per_epoch is None:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        if not isinstance(epochs, int) or epochs <= 0:
            raise ValueError(f"Expected positive integer epochs, but got {epochs}")
        if not isinstance(steps_per_epoch, int) or steps_per_epoch <= 0:
            raise ValueError(f"Expected positive integer steps_per_epoch, but got {steps_per_epoch}")
        return epochs * steps_per_epoch

    def _make_phases(self, start, three_phase):
        """(last step, learning rate from, to, momentum from, to) of each phase."""
        up = (float(start * self.total_steps) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
        if not three_phase:
            return [up, (self.total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
        return [
            up,
            (float(2 * start * self.total_steps) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            (self.total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]

    def _start_momentum(self, groups, base_momentum, max_momentum, last_epoch):
        if "momentum" not in groups[0] and "betas" not in groups[0]:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in groups[0]
        if last_epoch != -1:
            return
        tops, bases = _for_groups("max_momentum", groups, max_momentum), _for_groups("base_momentum", groups, base_momentum)
        for group, top, base in zip(groups, tops, bases, strict=True):
            group["max_momentum"], group["base_momentum"] = top, base
            self._set_momentum(group, top)

    def _set_momentum(self, group, value):
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def _anneal(self, start, end, fraction):
        if self._anneal_strategy == "linear":
            return (end - start) * fraction + start
        return end + (start - end) / 2.0 * (1 + math.cos(math.pi * fraction))

    def get_lr(self):
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The total number of steps is {self.total_steps}")
        values = []
        for group in self.optimizer.param_groups:
            begin = 0.0
            for i, (end, low, high, heavy, light) in enumerate(self._phases):
                if step <= end or i == len(self._phases) - 1:
                    fraction = (step - begin) / (end - begin)
                    values.append(self._anneal(group[low], group[high], fraction))
                    if self.cycle_momentum:
                        self._set_momentum(group, self._anneal(group[heavy], group[light], fraction))
                    break
                begin = end
        return values


def _for_groups(name, groups, value):
    """One value for each group; a single one is for all."""
    if not isinstance(value, list | tuple):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups ({len(groups)}), got {len(value)}")
    return list(value)
