"""Options: what profiles of this package can do beside torch's."""

import operator
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, get_args

# How often a sampler looks at the threads of Python where nobody says otherwise: a step of a tenth of a second has fifty samples of each.
SAMPLING_INTERVAL_MS = 2.0


def _flag(value):
    """As torch takes flags: numbers, None and what else has a truth of its own; not texts and lists, where the truth may be a surprise."""
    if not hasattr(type(value), "__bool__"):
        raise TypeError
    return bool(value)


def _text(value):
    if not isinstance(value, str | bytes):
        raise TypeError
    return value.decode() if isinstance(value, bytes) else value


def _texts(value):
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Collection):
        raise TypeError
    return [_text(item) for item in value]


def whole_number(value):
    """`value` as an int; a TypeError if it is not whole or no number."""
    return int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)


def _number(value):
    if isinstance(value, str | bytes):
        raise TypeError
    return float(value)


# How a value becomes one of the type that an option is declared with, and what a message calls that.
_CONVERSIONS = {
    bool: (_flag, "True or False"),
    str: (_text, "a text"),
    list: (_texts, "a list of names"),
    int: (whole_number, "a whole number"),
    float: (_number, "a number"),
    os.PathLike: (os.fsdecode, "a path"),
}


def _converted(name, kind, value):
    """`value` as the option `name` holds it; a TypeError names both."""
    kinds = get_args(kind) or (kind,)
    if value is None and type(None) in kinds:
        return None
    convert, what = _CONVERSIONS[kinds[0]]
    try:
        return convert(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be {what}, got {value!r}") from None


@dataclass(kw_only=True)
class Options:
    """What profiles of this package can do beside torch's. Each of these is a keyword argument of profile(), too.

        profile(with_stack=True, keep_last_steps=5)

    Several can be kept and given together: `profile(**vars(options))`. An _ExperimentalConfig takes them as well.
    """

    # Python calls as events: "off"; "stacks": every call of a profile that has with_stack, as torch.profiler does; "all": every call.
    # True is "all", and False is "off".
    python_calls: str = "off"
    budget_bytes: int | None = None  # how much memory events may take; None: 4 GiB
    keep_last_steps: int | None = None  # keep only so many of the last steps; 0: as much of the end as the budget holds
    keep_last_seconds: float | None = None  # keep only the steps of so many last seconds
    spill_path: os.PathLike | str | None = None  # write events to this file while recording goes on
    cuda_graphs: str = "nodes"  # an event for each kernel of a replay; "whole": one for each replay, at almost no cost
    device_stop_deadline_s: float = 10.0  # how long stopping may wait for work that is still running on a device
    enable_environment_counters: bool = False  # power, clocks, temperature and fan of GPUs as counters
    enable_cuda_events: bool = False  # the moments that CUDA events mark on their streams
    enable_nvtx: bool = False  # ranges and marks that the program and its libraries report with NVTX
    performance_metrics: list = field(default_factory=list)  # hardware counters of GPUs to sample, under NVIDIA's names
    performance_metrics_interval_ms: float = 1.0  # how often they are sampled
    sampling_interval_ms: float = 0.0  # how often a sampler looks at what all threads of Python do; 0: never

    _place: ClassVar[str] = ""  # where the options are, for messages about wrong ones

    def __setattr__(self, name, value):
        option = type(self).__dataclass_fields__.get(name)
        if name == "python_calls" and isinstance(value, bool):
            value = "all" if value else "off"
        super().__setattr__(name, value if option is None else _converted(self._place + name, option.type, value))

    def __post_init__(self):
        if self.python_calls not in ("off", "stacks", "all"):
            raise ValueError(f'python_calls must be "off", "stacks" or "all", got {self.python_calls!r}')
        if self.cuda_graphs not in ("nodes", "whole"):
            raise ValueError(f'cuda_graphs must be "nodes" or "whole", got {self.cuda_graphs!r}')
        if not self.device_stop_deadline_s >= 0:
            raise ValueError(f"device_stop_deadline_s must not be negative, got {self.device_stop_deadline_s!r}")
        if not 0.001 <= self.performance_metrics_interval_ms <= 60_000:
            raise ValueError(
                f"performance_metrics_interval_ms must be between 0.001 and 60000, got {self.performance_metrics_interval_ms!r}"
            )
        if self.sampling_interval_ms != 0 and not 0.1 <= self.sampling_interval_ms <= 60_000:
            raise ValueError(f"sampling_interval_ms must be 0 or between 0.1 and 60000, got {self.sampling_interval_ms!r}")
        if not all(self.performance_metrics):
            raise ValueError(f"performance_metrics must be a list of names, got {self.performance_metrics!r}")
        if self.keep_last_seconds is not None and not 0 <= self.keep_last_seconds < float("inf"):
            raise ValueError(f"keep_last_seconds must be a number of seconds that is not negative, got {self.keep_last_seconds!r}")
