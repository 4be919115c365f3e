"""with_stack: the Python stacks of events, and averages grouped by them."""

import os

import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile, record_function
from profiles import train

# Rule: stacks.frames


def test_stacks_are_lists_of_file_line_function():
    with profile(with_stack=True) as prof, record_function("scope"):
        torch.ones((2, 2)) * 2
    for event in prof.events():
        assert event["stack"], event["name"]
        for frame in event["stack"]:
            file, line, function = frame.rsplit(":", 2)
            assert line.isdigit() and function
    mul = next(event for event in prof.events() if "mul" in event["name"])
    assert mul["stack"][0].startswith(__file__) and mul["stack"][0].endswith("test_stacks_are_lists_of_file_line_function")


def test_profiler_internals_are_left_out_of_stacks():
    package = os.path.dirname(torch.__file__)
    with profile(with_stack=True) as prof:
        train()
    frames = {frame for event in prof.events() if "stack" in event for frame in event["stack"]}
    assert frames and not [frame for frame in frames if frame.startswith(os.path.join(package, "profiler"))]


# Rule: stacks.order


def test_stacks_are_innermost_first(op):
    def inner():
        op("aten::mul")

    def outer():
        inner()

    with profile(with_stack=True) as prof:
        outer()
    functions = [frame.rsplit(":", 1)[1] for frame in prof.events()[0]["stack"]]
    assert functions.index("inner") < functions.index("outer") < functions.index("test_stacks_are_innermost_first")


def test_grouping_by_stack_counts_user_frames_only():
    def one():
        return torch.ones((2, 2)) * 2

    def two():
        return torch.ones((2, 2)) * 2

    with profile(with_stack=True) as prof:
        one()
        two()
    rows = [row for row in prof.key_averages(group_by_stack_n=1) if row.key.endswith("mul")]
    assert sorted(row.stack[0].rsplit(":", 1)[1] for row in rows) == ["one", "two"]


# Rule: stacks.alone


def test_with_stack_alone_fills_stacks_and_export_stacks(op, tmp_path):
    with profile(with_stack=True) as prof:
        op("aten::mul")
    assert prof.events()[0].stack
    prof.export_stacks(tmp_path / "stacks.txt")
    assert (tmp_path / "stacks.txt").read_text().count("\n") == 1


def test_frames_of_an_event_have_torchs_form_and_those_of_its_mapping_ours(op):
    with profile(with_stack=True) as prof:
        op("aten::mul")
    event = prof.events()[0]
    for theirs, mine in zip(event.stack, event["stack"], strict=True):
        file, line, function = mine.rsplit(":", 2)
        assert theirs == f"{file}({line}): {function}"
