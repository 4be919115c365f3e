"""The hooks for dispatchers written in Python, inside and outside of a profile."""

import tracemalloc

from mindtorch_v2.profiler import dispatch_op_enter, dispatch_op_exit, profile
from profiles import names

# Rule: hosts.cost


def test_without_a_profiler_a_hooked_op_allocates_nothing(op):
    op("aten::mul", [2, 2])
    tracemalloc.start()
    try:
        tensors, keywords = (), {}
        dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", tensors, keywords))
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", tensors, keywords))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 256  # the loop's own counter


# Rule: hosts.hooks


def test_dispatchers_written_in_python_have_enter_and_exit_hooks(op):
    from mindtorch_v2.profiler import is_profiler_enabled

    assert not is_profiler_enabled()
    with profile() as prof:
        assert is_profiler_enabled()
        op("foreign::mul", [2, 3])
    assert names(prof) == ["foreign::mul"]
