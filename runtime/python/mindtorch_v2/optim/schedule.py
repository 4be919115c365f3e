"""The base class of learning rate schedules."""

import warnings

from mindtorch_v2.optim.optimizer import Optimizer


class LRScheduler:
    """Sets the learning rates of an optimizer's groups. step() advances to the next epoch. Subclasses define get_lr()."""

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
        """Counts the optimizer's steps, to warn if the schedule advances before the first one."""
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
        """Advances to the next epoch, or to the given one."""
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
        """The state of the schedule, without the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name not in self._NOT_SAVED}

    def load_state_dict(self, state_dict):
        """Restores the state that state_dict() returned."""
        self.__dict__.update(state_dict)
