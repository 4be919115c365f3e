"""KinetoStepTracker: one count of steps for all parts of a program that count them."""

from collections import defaultdict
from typing import ClassVar

from mindtorch_v2.profiler._warnings import warn


class KinetoStepTracker:
    """The program's step is the largest count of all requesters, so that two of them counting one iteration do not count it twice."""

    _current_step = 0
    _step_dict: ClassVar[dict] = defaultdict(int)

    @classmethod
    def init_step_count(cls, requester):
        """A new requester begins at the program's step."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester):
        """Forgets a requester. False if the name is unknown."""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester):
        """Counts a step of `requester`; returns the program's step."""
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        newest = max(cls._step_dict.values())
        if newest - cls._current_step > 1:
            warn(f"Profiler step count has increased more than 1 - current_step = {cls._current_step} step dict =  {cls._step_dict}")
        cls._current_step = max(newest, cls._current_step)
        return cls._current_step

    @classmethod
    def current_step(cls):
        """The program's step."""
        return cls._current_step
