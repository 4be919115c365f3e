"""torch.profiler's API on a small tensor runtime of its own: `import mindtorch_v2 as torch`."""

from mindtorch_v2._C import ArgumentAssertionError

__all__ = ["ArgumentAssertionError"]
__version__ = "0.1.0"
