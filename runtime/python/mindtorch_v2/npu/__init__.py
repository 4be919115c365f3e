"""NPUs: Ascend devices, or a software device with MINDTORCH_NPU=reference. An error says what is missing if there is no NPU."""

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime._npu import (
    Event,
    Stream,
    current_stream,
    default_stream,
    device_count,
    empty_cache,
    is_available,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    provider_name,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
    synchronize,
    unavailable_reason,
    use_provider,
)
from mindtorch_v2.random import initial_seed, manual_seed, seed

__all__ = [
    "Event",
    "Stream",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "initial_seed",
    "is_available",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "provider_name",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "set_device",
    "stream",
    "synchronize",
    "unavailable_reason",
    "use_provider",
]

reset_max_memory_allocated = reset_peak_memory_stats
manual_seed_all = manual_seed


def _index(device):
    """The number of a device given as number, text or object; 0 for None."""
    if device is None:
        return 0
    if isinstance(device, int):
        return device
    return _runtime.device(device).index or 0


def _check(index):
    if not is_available():
        raise RuntimeError(f"no NPU can be used: {unavailable_reason()}")
    if not 0 <= index < device_count():
        raise RuntimeError(f"npu:{index} does not exist: there are {device_count()} devices")


def current_device():
    """The number of the device that "npu" means: always 0."""
    _check(0)
    return 0


def set_device(device):
    """Refuses every device but number 0: name the others where tensors are made ("npu:1")."""
    index = _index(device)
    _check(index)
    if index != 0:
        raise NotImplementedError('the current device is always npu:0; name another one where a tensor is made: device="npu:1"')


def get_device_name(device=None):
    """The provider of the device, and its number."""
    index = _index(device)
    _check(index)
    return f"{provider_name()} NPU {index}"


class device:
    """A block that uses device 0, which is always the current device."""

    def __init__(self, device):
        self._device = device

    def __enter__(self):
        set_device(self._device)

    def __exit__(self, *exception):
        pass


class stream:
    """Queues the work of a block on a stream. None changes nothing."""

    def __init__(self, stream):
        self._stream = stream
        self._open = []

    def __enter__(self):
        self._open.append(None if self._stream is None else _runtime._npu.open_stream(self._stream))
        return self._stream

    def __exit__(self, *exception):
        opened = self._open.pop()
        if opened is not None:
            opened.close()


def memory_summary(device=None):
    """A device's memory figures as text."""
    lines = [f"{name:<20}{function(device):>16}" for name, function in _FIGURES.items()]
    return "\n".join([f"npu:{_index(device)} (bytes)", *lines])


_FIGURES = {
    "allocated": memory_allocated,
    "allocated, peak": max_memory_allocated,
    "reserved": memory_reserved,
    "reserved, peak": max_memory_reserved,
}
