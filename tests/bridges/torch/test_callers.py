"""torch's own analyses name the line of the program for nodes of our tree as for those of torch's, with and without recorded calls."""

import pytest
from mindtorch_v2.profiler import profile


@pytest.fixture
def train_step(torch):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, bias=True), torch.nn.BatchNorm2d(4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
    x = torch.ones(2, 3, 8, 8)

    def train_step():
        loss = model(x).sum()
        loss.backward()
        optimizer.step()

    train_step()
    return train_step


def profiled(program, module_profile, **options):
    with module_profile(with_stack=True, record_shapes=True, **options) as prof:
        program()
    return prof


def reported(prof, capsys):
    """The patterns that torch finds, with their places."""
    from torch.profiler._pattern_matcher import report_all_anti_patterns

    capsys.readouterr()
    report_all_anti_patterns(prof)
    return capsys.readouterr().out


@pytest.mark.parametrize("options", [{}, {"python_calls": True}])
def test_reports_of_patterns_name_the_line_of_the_program(torch, train_step, capsys, options):
    theirs = reported(profiled(train_step, torch.profiler.profile), capsys)
    assert reported(profiled(train_step, profile, **options), capsys) == theirs
    first = train_step.__code__.co_firstlineno
    assert [line.rpartition(":")[2] for line in theirs.splitlines() if "Location" in line] == [str(first + 3), str(first + 1)]
    assert theirs.count("test_callers.py:") == 2


def callers(prof):
    """The callers of modules, C functions and Python functions that events run in: by function and line."""
    found, nodes = {}, list(prof.profiler.kineto_results.experimental_event_tree())
    for node in nodes:
        nodes += node.children
        if str(node.tag).rpartition(".")[2] in ("PyCall", "PyCCall"):
            caller = node.extra_fields.caller
            name = node.name.rpartition(": ")[2].partition(" of type object")[0]
            found.setdefault(name, (caller.function_name, caller.line_number))
    return found


def test_recorded_calls_have_torchs_callers(torch):
    model = torch.nn.Linear(4, 4)

    def inner(x):
        return model(x)

    def outer():
        x = torch.ones(2, 4)
        x = inner(x)

        return torch.relu(x)

    theirs = callers(profiled(outer, torch.profiler.profile))
    ours = callers(profiled(outer, profile, python_calls=True))
    names = {"outer", "inner", "Linear_0", "forward", "<built-in function linear>", "<built-in method relu"}
    assert {name: ours[name] for name in names} == {name: theirs[name] for name in names}


@pytest.mark.parametrize("options", [{}, {"python_calls": True}])
def test_calls_of_the_backward_pass_do_not_have_lines_of_the_forward_pass(torch, options):
    def program():
        x, gradient = torch.ones(3, requires_grad=True), torch.ones(3)
        y = x.exp()
        y.backward(gradient)

    nodes = list(profiled(program, profile, **options).profiler.kineto_results.experimental_event_tree())
    for node in nodes:
        nodes += node.children
    (caller,) = [
        node.extra_fields.caller for node in nodes if node.name.startswith("torch/_tensor.py") and node.name.endswith(": backward")
    ]
    assert caller.line_number == program.__code__.co_firstlineno + 3
