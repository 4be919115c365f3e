"""CUDA devices: the embedded runtime computes on the CPU and on NPUs, so there are none."""

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
    """There is none: RuntimeError."""
    raise RuntimeError("the embedded runtime has no CUDA devices")


def synchronize(device=None):
    """There is nothing to wait for: RuntimeError, as in torch without CUDA."""
    raise RuntimeError("the embedded runtime has no CUDA devices")
