"""KinetoStepTracker: one count of steps for all parts of a program that count them."""

import sys
from collections import defaultdict
from typing import ClassVar

from mindtorch_v2.base.warnings import warn


def _counts(cls):
    """Who keeps the counts: torch's class if torch's profiler is imported, because torch's optimizers count there."""
    theirs = sys.modules.get("torch.autograd.profiler")
    return getattr(theirs, "KinetoStepTracker", cls)


class KinetoStepTracker:
    """The program's step is the largest count of all requesters, so that two of them counting one iteration do not count it twice."""

    _current_step = 0
    _step_dict: ClassVar[dict] = defaultdict(int)

    @classmethod
    def init_step_count(cls, requester):
        """A new requester begins at the program's step."""
        counts = _counts(cls)
        counts._step_dict[requester] = counts._current_step

    @classmethod
    def erase_step_count(cls, requester):
        """Forgets a requester. False if the name is unknown."""
        return _counts(cls)._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester):
        """Counts a step of `requester`; returns the program's step."""
        counts = _counts(cls)
        if requester not in counts._step_dict:
            cls.init_step_count(requester)
        counts._step_dict[requester] += 1
        newest = max(counts._step_dict.values())
        if newest - counts._current_step > 1:
            warn(f"Profiler step count has increased more than 1 - current_step = {counts._current_step} step dict =  {counts._step_dict}")
        counts._current_step = max(newest, counts._current_step)
        return counts._current_step

    @classmethod
    def current_step(cls):
        """The program's step."""
        return _counts(cls)._current_step
