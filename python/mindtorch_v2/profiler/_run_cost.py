"""What recording an op costs on this machine, measured when a run has ended."""

import sys
import time

from mindtorch_v2.profiler.profiler import profile

_OPS = 2000


def cost_per_event(settings) -> float | None:
    """Nanoseconds that recording adds to a small op of the program's library; None if it cannot be measured."""
    library = sys.modules.get("torch") or sys.modules.get("mindtorch_v2")
    try:
        tensor = library.ones(1)
        options = {"record_shapes": settings.shapes, "profile_memory": settings.memory, "with_stack": settings.stack}
        with profile(**options, python_calls=False) as prof:
            _time_of_ops(tensor)  # the first ops are slower
            recorded = min(_time_of_ops(tensor) for _ in range(3))
        events = prof.overhead().events or len(prof.events())
        plain = min(_time_of_ops(tensor) for _ in range(3))
    except (AttributeError, RuntimeError):
        return None
    return max(0.0, recorded - plain) * 1e9 / (events / 4) if events else None


def _time_of_ops(tensor) -> float:
    began = time.perf_counter()
    for _ in range(_OPS):
        tensor.view(1)
    return time.perf_counter() - began
