"""_ExperimentalConfig: torch's options of that name, and ours beside them."""

import copy
import json
from dataclasses import dataclass, field, fields
from typing import ClassVar

from mindtorch_v2.base.warnings import warn
from mindtorch_v2.profiler._options import Options

# Options that are accepted and cannot do anything here, each with the reason a user is told.
_WITHOUT_EFFECT = {
    "profiler_measure_per_kernel": "hardware counters are sampled over time (performance_metrics), not measured per kernel",
    "disable_external_correlation": "device work is always linked to the op that launched it; it costs nothing here",
    "custom_profiler_config": "there is no other profiler backend to configure",
    "adjust_timestamps": "every clock is mapped to one timeline already",
}


@dataclass
class _ExperimentalConfig(Options):
    """Options of torch.profiler._ExperimentalConfig, in its order. It takes our own Options, too.

    `expose_kineto_event_metadata` switches on what is always on here. `verbose` and `adjust_profiler_step` are about the Python calls
    that torch records with stacks: setting one of them sets python_calls="stacks" if it was "off".
    """

    profiler_metrics: list = field(default_factory=list)
    profiler_measure_per_kernel: bool = False
    verbose: bool = False
    performance_events: list = field(default_factory=list)
    enable_cuda_sync_events: bool = False
    adjust_profiler_step: bool = False
    disable_external_correlation: bool = False
    profile_all_threads: bool = True  # torch: False. All threads are recorded; False: the starting thread and those it hands work to.
    capture_overload_names: bool = False
    record_python_gc_info: bool = False
    expose_kineto_event_metadata: bool = False
    custom_profiler_config: str = ""
    adjust_timestamps: bool = False
    trace_only: bool = False

    _place: ClassVar[str] = "experimental_config: "

    def __setattr__(self, name, value):
        super().__setattr__(name, value)
        if name in ("verbose", "adjust_profiler_step") and getattr(self, name) and self.python_calls == "off":
            self.python_calls = "stacks"


def as_ours(config):
    """`config` if it is ours or None, else ours with the options of torch's."""
    if config is None or isinstance(config, _ExperimentalConfig):
        return config
    if not type(config).__module__.startswith("torch."):
        raise TypeError(f"experimental_config must be an _ExperimentalConfig, got {type(config).__name__}")
    # Most of torch's options cannot be read by name, but all of them are pickled, in the order of its arguments; texts in lists as bytes.
    values = [[text.decode() for text in value] if isinstance(value, list) else value for value in config.__getstate__()]
    names = [option.name for option in fields(_ExperimentalConfig) if not option.kw_only]
    ours = _ExperimentalConfig(**dict(zip(names, values, strict=False)))  # a release of torch may have fewer options, or more
    ours.profile_all_threads = True  # False is torch's default, not a wish
    return ours


def warn_without_effect(config):
    """Tells the user about every option of `config` that is set and does nothing here."""
    defaults = {option.name: option.default for option in fields(_ExperimentalConfig)}
    for name, reason in _WITHOUT_EFFECT.items():
        if name == "custom_profiler_config" and is_of_cuspy(config.custom_profiler_config):
            continue  # its options are ours too
        if getattr(config, name) != defaults[name]:
            warn(f"experimental_config.{name} has no effect: {reason}.")


def with_options(config, options):
    """`config` (or None) with these of our Options."""
    if not options:
        return config
    config = _ExperimentalConfig() if config is None else copy.copy(config)
    for name, value in options.items():
        setattr(config, name, value)
    return config


def is_of_cuspy(text: str) -> bool:
    """Whether `custom_profiler_config` asks for torch's profiler of CUDA that CuspyConfig stands for."""
    options = options_of_text(text)
    return options.get("backend") in ("cuspy", "cupti_monitor") or bool(options.get("cuspy") or options.get("cupti_monitor"))


def options_of_text(text: str) -> dict[str, object]:
    """What `custom_profiler_config` asks for: an object of JSON, or the name of a backend."""
    try:
        parsed = json.loads(text or "{}")
    except json.JSONDecodeError:
        return {"backend": text}
    return parsed if isinstance(parsed, dict) else {}
