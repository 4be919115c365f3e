"""The schedule of one cycle."""

import math

from mindtorch_v2.optim.schedule import LRScheduler


class OneCycleLR(LRScheduler):
    """Raises the learning rate to max_lr and then lowers it far below the start, once. Momentum moves in the opposite direction."""

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
    """One value for each group. A single value is used for all groups."""
    if not isinstance(value, list | tuple):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ValueError(f"{name} must have the same length as optimizer.param_groups ({len(groups)}), got {len(value)}")
    return list(value)
