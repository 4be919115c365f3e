"""Indexing in a profile: the ops that a user has written have torch's names."""

import mindtorch_v2 as ours
import mindtorch_v2.profiler
import pytest

# What a program writes. Values are assigned to a copy, and w is what is assigned.
EXPRESSIONS = [
    "x[0]",
    "x[:, 1]",
    "x[1:]",
    "x[i]",
    "x[:, i]",
    "x[i, j]",
    "x[[0, 2]]",
    "x[mask]",
    "x[rows]",
    "x[rows, 1]",
    "x[1, i]",
    "x[i, None]",
    "x[i, 1:3]",
    "x[None]",
    "x[torch.tensor(1)]",
    "x[0] = 1.0",
    "x[:] = 1.0",
    "x[0] = w[0]",
    "x[i] = 1.0",
    "x[i] = w",
    "x[i, j] = w[0, 0]",
    "x[mask] = 1.0",
    "x[mask] = w[0, 0]",
    "x[rows] = w",
    "x[:, i] = 1.0",
    "mask.nonzero()",
    "mask.nonzero(as_tuple=True)",
    "torch.where(mask)",
    "x.masked_select(mask)",
    "x.index_put_((i, j), w[0, 0], accumulate=True)",
    "g[i].sum().backward()",
    "g[mask].sum().backward()",
    "y = g * 1; y[i] = w; y.sum().backward()",
]
# Of the ops inside of others only these are compared: views, conversions and allocations are divided among kernels in other ways.
INSIDE = {
    "aten::nonzero",
    "aten::_index_put_impl_",
    "aten::index_put_",
    "aten::masked_fill_",
    "aten::index",
    "IndexBackward0",
    "IndexPutBackward0",
}
# Where a number has become a tensor, or geometry has been written down, torch says so.
LEFT_OUT = {
    "aten::lift_fresh",
    "aten::detach",
    "aten::detach_",
    "aten::as_strided",
    "aten::empty",
    "aten::to",
    "aten::fill_",
    "aten::copy_",
}


def recorded(torch, profiler, expression):
    x = torch.arange(12.0).reshape(3, 4)
    names = {
        "torch": torch,
        "x": x.clone(),
        "g": x.clone().requires_grad_(),
        "w": torch.ones((2, 4)),
        "i": torch.tensor([0, 2]),
        "j": torch.tensor([1, 3]),
        "mask": x > 4,
        "rows": torch.tensor([True, False, True]),
    }
    code = compile(expression, "<expression>", "exec")
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as prof:
        exec(code, names)
    outer = [event.name for event in prof.events() if event.cpu_parent is None and event.name not in LEFT_OUT]
    return outer, [event.name for event in prof.events() if event.name in INSIDE]


@pytest.mark.parametrize("expression", ["x[i]", "x[mask]", "x[i] = w", "x[mask] = 1.0"])
def test_an_index_of_tensors_is_one_op(expression):
    outer, _ = recorded(ours, ours.profiler, expression)
    assert outer == ["aten::index_put_" if "=" in expression else "aten::index"]


@pytest.mark.torch
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_ops_of_an_indexing_expression_are_torchs(expression):
    import torch

    mine, theirs = recorded(ours, ours.profiler, expression), recorded(torch, torch.profiler, expression)
    if "masked_select" in expression:  # is made of index here
        mine, theirs = mine[:1], theirs[:1]
    assert mine == theirs
