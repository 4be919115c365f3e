"""torch.profiler's API on a small tensor runtime of its own: `import mindtorch_v2 as torch`."""

from mindtorch_v2._C import ArgumentAssertionError

from mindtorch_v2 import profiler  # isort: skip

__all__ = ["ArgumentAssertionError", "profiler"]
__version__ = "0.1.0"
