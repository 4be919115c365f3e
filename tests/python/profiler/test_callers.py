"""experimental_event_tree(): the function and the line in which each call was made."""

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import profile


def without_ops():
    return 1


def inner(x):
    without_ops()
    y = x.sum()
    return y


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = x + 1
        return self.layer(x)


def outer(model):
    x = torch.ones((2, 4))
    inner(x)
    y = model(
        x,
    )
    return y.sum()


def line_of(function, number):
    return function.__code__.co_firstlineno + number


def all_nodes(roots):
    for node in roots:
        yield node
        yield from all_nodes(node.children)


def callers(prof):
    """The caller of each call, by what it calls: (function, line)."""
    tree = prof.profiler.kineto_results.experimental_event_tree()
    calls = [node for node in all_nodes(tree) if node.kind in ("PyCall", "PyCCall")]
    return {node.name.rpartition(": ")[2]: (node.extra_fields.caller.function_name, node.extra_fields.caller.line_number) for node in calls}


@pytest.mark.parametrize("python_calls", [False, True])
def test_the_caller_is_the_calling_function_in_the_line_of_the_call(python_calls):
    with profile(with_stack=True, python_calls=python_calls) as prof:
        outer(Net())
    found = callers(prof)
    assert found["inner"] == ("outer", line_of(outer, 2))
    assert found["Net_0"] == ("outer", line_of(outer, 3))
    assert found["forward"] == ("outer", line_of(outer, 3)), "a module is not a place"
    assert found["Linear_0"] == ("forward", line_of(Net.forward, 2))


def test_a_call_in_which_no_op_runs_has_the_place_of_the_function_around_it():
    with profile(with_stack=True, python_calls=True) as prof:
        inner(torch.ones(3))
    assert callers(prof)["without_ops"] == ("inner", line_of(inner, 0))
