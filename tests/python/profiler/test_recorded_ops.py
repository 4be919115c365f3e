"""Which ops a profile records, and under which names."""

import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile
from profiles import names, train

# Rule: names.torch


def test_ops_of_forward_backward_and_optimizer_are_recorded():
    with profile() as prof:
        train()
    recorded = " ".join(event["name"] for event in prof.events())
    assert "addmm" in recorded or "linear" in recorded
    assert "Backward" in recorded
    assert "Optimizer.step#SGD.step" in recorded


# Rule: hosts.cost


def test_each_op_is_recorded_once_where_the_dispatcher_runs_it():
    x = torch.ones((2, 2), requires_grad=True)
    with profile() as prof:
        x * x
    assert [name.split("::")[-1] for name in names(prof)] == ["mul"]


# Rule: ops.autograd


def test_a_product_and_its_sum_and_their_backward_are_named_after_the_ops():
    with profile() as prof:
        x = torch.ones((2, 2), requires_grad=True)
        (x * x).sum().backward()
    recorded = names(prof)
    assert any("mul" in name for name in recorded) and any("sum" in name for name in recorded)
    assert any("MulBackward0" in name for name in recorded) and any("SumBackward0" in name for name in recorded)
    assert x.grad.tolist() == [[2, 2], [2, 2]]


# Rule: ops.optimizer


def test_the_ops_of_an_optimizer_appear():
    with profile() as prof:
        train()
    step = next(event for event in prof.events() if event["name"] == "Optimizer.step#SGD.step")
    assert [child for child in step.cpu_children if child["kind"] == "op"]
