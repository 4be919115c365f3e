"""_ExperimentalConfig: torch's options, and those that only exist here."""

from dataclasses import KW_ONLY, dataclass, field, fields

from mindtorch_v2.profiler._warnings import warn

# Options that are accepted and cannot do anything here, each with the reason a user is told.
_WITHOUT_EFFECT = {
    "profiler_measure_per_kernel": "hardware counters are not recorded",
    "disable_external_correlation": "device work is always linked to the op that launched it; it costs nothing here",
    "custom_profiler_config": "there is no other profiler backend to configure",
    "adjust_timestamps": "every clock is mapped to one timeline already",
}


@dataclass
class _ExperimentalConfig:
    """Options of torch.profiler._ExperimentalConfig, in its order, then our own.

    `verbose` and `expose_kineto_event_metadata` switch on what is always on here.
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
    _: KW_ONLY
    budget_bytes: int | None = None  # how much memory events may take; None: 4 GiB
    keep_last_steps: int | None = None  # keep only so many of the last steps; 0: as much of the end as the budget holds
    keep_last_seconds: float | None = None  # keep only the steps of so many last seconds
    spill_path: str | None = None  # write events to this file while recording goes on
    cuda_graphs: str = "nodes"  # an event for each kernel of a replay; "whole": one for each replay, at almost no cost
    device_stop_deadline_s: float = 10.0  # how long stopping may wait for work that is still running on a device
    enable_environment_counters: bool = False  # power, clocks, temperature and fan of GPUs as counters
    enable_cuda_events: bool = False  # the moments that CUDA events mark on their streams
    enable_nvtx: bool = False  # ranges and marks that the program and its libraries report with NVTX
    performance_metrics: list = field(default_factory=list)  # hardware counters of GPUs to sample, under NVIDIA's names
    performance_metrics_interval_ms: float = 1.0  # how often they are sampled

    def __post_init__(self):
        if self.cuda_graphs not in ("nodes", "whole"):
            raise ValueError(f'cuda_graphs must be "nodes" or "whole", got {self.cuda_graphs!r}')
        if not self.device_stop_deadline_s >= 0:
            raise ValueError(f"device_stop_deadline_s must not be negative, got {self.device_stop_deadline_s!r}")
        if not 0.001 <= self.performance_metrics_interval_ms <= 60_000:
            raise ValueError(
                f"performance_metrics_interval_ms must be between 0.001 and 60000, got {self.performance_metrics_interval_ms!r}"
            )
        if isinstance(self.performance_metrics, str) or not all(isinstance(name, str) and name for name in self.performance_metrics):
            raise ValueError(f"performance_metrics must be a list of names, got {self.performance_metrics!r}")


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
        if getattr(config, name) != defaults[name]:
            warn(f"experimental_config.{name} has no effect: {reason}.")
