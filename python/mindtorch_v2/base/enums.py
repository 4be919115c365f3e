"""Enums of torch.profiler. Their members equal torch's own members, so that a program may mix both."""

from enum import Enum

__all__ = ["DeviceType", "ProfilerAction", "ProfilerActivity", "RecordScope"]


def _is_twin(ours, other):
    """Whether `other` is the member of torch's enum of the same name and number."""
    return type(other).__name__ == type(ours).__name__ and getattr(other, "value", None) == ours.value


class _TorchEnum(Enum):
    def __eq__(self, other):
        return self is other or _is_twin(self, other)

    def __hash__(self):
        return hash(self.value)

    def __int__(self):
        return self.value

    __index__ = __int__


class ProfilerActivity(_TorchEnum):
    """What a profile records. XPU, MTIA and HPU exist, but no source records them: a profile refuses them with a reason."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    NPU = 5
    PrivateUse1 = 5


class ProfilerAction(_TorchEnum):
    """What the profiler does during a step. DEVICE_STOPPED is torch's internal state; a schedule that returns it is refused."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


class RecordScope(_TorchEnum):
    """The kind of code that an event comes from (the attribute `scope` of an event)."""

    FUNCTION = 0
    BACKWARD_FUNCTION = 1
    TORCHSCRIPT_FUNCTION = 2
    KERNEL_FUNCTION_DTYPE = 3
    CUSTOM_CLASS = 4
    BUILD_FEATURE = 5
    LITE_INTERPRETER = 6
    USER_SCOPE = 7
    STATIC_RUNTIME_OP = 8
    STATIC_RUNTIME_MODEL = 9


class DeviceType(str, Enum):
    """A kind of device: torch's number, and equal to its name as a string ("CPU", "NPU", "CUDA")."""

    def __new__(cls, name, number):
        member = str.__new__(cls, name)
        member._value_ = number
        return member

    CPU = "CPU", 0
    CUDA = "CUDA", 1
    MKLDNN = "MKLDNN", 2
    OPENGL = "OPENGL", 3
    OPENCL = "OPENCL", 4
    IDEEP = "IDEEP", 5
    HIP = "HIP", 6
    FPGA = "FPGA", 7
    MAIA = "MAIA", 8
    XLA = "XLA", 9
    Vulkan = "Vulkan", 10
    Metal = "Metal", 11
    XPU = "XPU", 12
    MPS = "MPS", 13
    Meta = "Meta", 14
    HPU = "HPU", 15
    VE = "VE", 16
    Lazy = "Lazy", 17
    IPU = "IPU", 18
    MTIA = "MTIA", 19
    NPU = "NPU", 20
    PrivateUse1 = "NPU", 20

    def __eq__(self, other):
        return str.__eq__(self, other) if isinstance(other, str) else _is_twin(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__

    def __int__(self):
        return self.value

    def __str__(self):
        return f"DeviceType.{self.name}"

    def __repr__(self):
        return f"<DeviceType.{self.name}: {self.value}>"

    __format__ = object.__format__
