"""Hooks for dispatchers written in Python: their op calls become events, whatever framework they belong to.

def call(op, *args, **kwargs):
    if not is_profiler_enabled():
        return op.kernel(*args, **kwargs)
    token = dispatch_op_enter(op.name, op.device, args, kwargs)
    try:
        return op.kernel(*args, **kwargs)
    finally:
        dispatch_op_exit(token)
"""

from mindtorch_v2._C import dispatch_op_enter, dispatch_op_exit, is_profiler_enabled

__all__ = ["dispatch_op_enter", "dispatch_op_exit", "is_profiler_enabled"]
