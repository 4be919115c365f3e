"""Arguments of a torch.autograd.Function: numbers and None keep their places among the tensors, as in torch."""

import json
import sys

import pytest
from mindtorch_v2.profiler import profile


@pytest.fixture(scope="module")
def scaled(torch):
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(values, *others):
            return values * 2

        @staticmethod
        def setup_context(context, inputs, output):
            context.others = len(inputs) - 1

        @staticmethod
        def backward(context, gradient):
            return (gradient * 2,) + (None,) * context.others

    return Scaled


@pytest.fixture
def told_by_both(torch, tmp_path):
    """told_by_both(program) is what torch.profiler and ours tell of the arguments of each Scaled that the program applies."""

    def profile_both(program, **options):
        told = []
        for make in (torch.profiler.profile, profile):
            with make(record_shapes=True, **options) as prof:
                program()
            prof.export_chrome_trace(str(tmp_path / "trace.json"))
            events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
            applied = sorted((event for event in events if event["name"].startswith("Scaled")), key=lambda event: event["ts"])
            told.append([{key: value for key, value in event["args"].items() if "Input" in key} for event in applied])
        return told

    return profile_both


@pytest.mark.parametrize("with_memory", [False, True])
def test_numbers_and_none_keep_their_places(torch, scaled, told_by_both, with_memory):
    x, y = torch.ones(3, requires_grad=True), torch.ones(2, 2)
    theirs, ours = told_by_both(lambda: scaled.apply(x, 2.0, "text", y, None, [x, y]), profile_memory=with_memory)
    assert ours == theirs
    assert ours[0]["Input Dims"] == [[3], [], [2, 2], []]
    assert ours[0]["Input type"] == ["float", "Scalar", "float", ""]


VALUES = [
    3,
    True,
    None,
    "text",
    object(),
    len,
    [1, 2],
    [1, 2.0],
    [None, 1],
    [[1], [2]],
    [(1, 2)],
    [],
    (),
    (1, 2.5),
    (1, "a"),
    {1: 2},
    {"a": 1},
    {},
]
VALUES += [[True, False], [2.5, 0.5], list(range(30)), list(range(31)), 2**62, float("inf"), [[]], {1: [1, 2]}, {1: 2, 2.0: 3}]


def test_what_torch_takes_is_taken_in_the_same_form(torch, scaled, told_by_both):
    x = torch.ones(3, requires_grad=True)

    def apply_to_each():
        for value in [*VALUES, torch.float32, torch.device("cpu"), torch.Size([1, 2]), [x], (x, 1), torch.nn.Parameter(torch.ones(2))]:
            scaled.apply(x, value, x)

    theirs, ours = told_by_both(apply_to_each)
    assert ours == theirs


def test_a_list_that_contains_itself_is_left_out(torch, scaled):
    itself = [1]
    itself[0] = itself
    with profile(record_shapes=True) as prof:
        scaled.apply(torch.ones(3, requires_grad=True), itself, 5)
    assert [event.input_shapes for event in prof.events() if event.name == "Scaled"] == [[[3], []]]


def test_transforms_apply_functions_with_the_same_arguments(torch, scaled, told_by_both):
    x = torch.ones(3)
    theirs, ours = told_by_both(lambda: torch.func.grad(lambda values: scaled.apply(values, 2.5, None, x).sum())(x))
    assert ours == theirs
    assert len(ours) > 1 and ours[0]["Input Dims"] == [[3], [], [], [3]]


def test_reading_arguments_keeps_nothing_alive(torch, scaled):
    other = torch.ones(3)
    before = sys.getrefcount(other)
    with profile(record_shapes=True):
        scaled.apply(torch.ones(3, requires_grad=True), other, 1)
    assert sys.getrefcount(other) == before
