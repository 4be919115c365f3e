"""record_shapes: the shapes of the tensors that ops are called with."""

import json

import mindtorch_v2 as torch
from mindtorch_v2.profiler import dispatch_op_enter, dispatch_op_exit, profile
from profiles import train

# Rule: shapes.inputs


def test_shapes_of_positional_and_keyword_tensors_and_lists_are_kept():
    x = torch.ones((2, 3))
    with profile(record_shapes=True) as prof:
        x * x
        torch.cat([x, x], dim=0)
    shapes = {event["name"].split("::")[-1]: event["input_shapes"] for event in prof.events() if event["kind"] == "op"}
    assert shapes["mul"][:2] == [[2, 3], [2, 3]]
    assert shapes["cat"][0] == [[2, 3], [2, 3]]
    json.dumps(shapes)


def test_shapes_of_tensors_that_a_dispatcher_passes_by_keyword_are_kept():
    x, out = torch.ones((2, 3)), torch.ones((4, 3))
    with profile(record_shapes=True) as prof:
        dispatch_op_exit(dispatch_op_enter("foreign::cat", "cpu", ([x, x],), {"dim": 0, "out": out}))
    assert prof.events()[0]["input_shapes"] == [[[2, 3], [2, 3]], [], [4, 3]]


def test_shapes_of_tensors_that_the_user_passes_by_keyword_are_kept():
    x, y = torch.ones((2, 3)), torch.ones((1, 3))
    with profile(record_shapes=True) as prof:
        torch.mul(x, other=y)
        torch.mul(input=x, other=y)
        torch.cat(tensors=[x, y])
    assert [event["input_shapes"][:2] for event in prof.events()] == [[[2, 3], [1, 3]], [[2, 3], [1, 3]], [[[2, 3], [1, 3]], []]]


def test_every_op_has_input_shapes_when_shapes_are_recorded():
    with profile(record_shapes=True) as prof:
        train()
    assert all("input_shapes" in event for event in prof.events() if event["kind"] == "op")
