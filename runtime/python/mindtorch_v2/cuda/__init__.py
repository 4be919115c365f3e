"""CUDA devices. The embedded runtime computes on the CPU and on NPUs, so it has no CUDA devices."""

__all__ = ["current_device", "device_count", "is_available", "is_initialized", "synchronize"]


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def device_count():
    """0."""
    return 0


def current_device():
    """Raises RuntimeError, because there is no device."""
    raise RuntimeError("the embedded runtime has no CUDA devices")


def synchronize(device=None):
    """Raises RuntimeError, as torch without CUDA does."""
    raise RuntimeError("the embedded runtime has no CUDA devices")
