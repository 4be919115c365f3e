"""What a profile was asked for, as torch's C++ side is told it."""

from dataclasses import dataclass
from typing import Any

from mindtorch_v2.profiler._enums import _TorchEnum

__all__ = ["ProfilerConfig", "ProfilerState"]


class ProfilerState(_TorchEnum):
    """Torch's kinds of profilers. There is one here: KINETO, and KINETO_PRIVATEUSE1 if it watches an NPU."""

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
    """What profile.config() returns. Changing it changes nothing: a profile is told by its constructor."""

    state: ProfilerState
    report_input_shapes: bool
    profile_memory: bool
    with_stack: bool
    with_flops: bool
    with_modules: bool
    experimental_config: Any
    trace_id: str = ""
