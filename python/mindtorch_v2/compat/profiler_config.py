"""The configuration of a profile, with the names of torch's C++ class."""

from dataclasses import dataclass
from typing import Any

from mindtorch_v2.base.enums import _TorchEnum

__all__ = ["ProfilerConfig", "ProfilerState"]


class ProfilerState(_TorchEnum):
    """Torch's kinds of profilers. Here it is always KINETO, or KINETO_PRIVATEUSE1 if an NPU is recorded."""

    Disabled = 0
    CPU = 1
    CUDA = 2
    NVTX = 3
    ITT = 4
    PRIVATEUSE1 = 5
    KINETO = 6
    KINETO_GPU_FALLBACK = 7
    KINETO_PRIVATEUSE1_FALLBACK = 8
    KINETO_PRIVATEUSE1 = 9


@dataclass
class ProfilerConfig:
    """The result of profile.config(). Changing it has no effect; the constructor of a profile sets the configuration."""

    state: ProfilerState
    report_input_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_flops: bool
    with_modules: bool
    experimental_config: Any
    trace_id: str = ""
