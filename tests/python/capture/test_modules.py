"""with_modules: calls of nn.Module are events with the module's name and place."""

import contextlib
import gc
import json

import mindtorch_v2 as torch
import pytest
from mindtorch_v2 import nn
from mindtorch_v2.nn import module as nn_module
from mindtorch_v2.profiler import profile


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.encoder(x))


def module_events(prof, tmp_path):
    """(name, place) of the module calls in the trace, in order of time."""
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    events = [event for event in json.loads(path.read_bytes())["traceEvents"] if event.get("name", "").startswith("nn.Module: ")]
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    return [(event["name"].rpartition("_")[0], event["args"]["Module Hierarchy"]) for event in events]


def test_calls_are_named_by_class_and_place(tmp_path):
    net = Net()
    with profile(with_modules=True) as prof:
        net(torch.ones((1, 4)))
    assert module_events(prof, tmp_path) == [
        ("nn.Module: Net", "Net"),
        ("nn.Module: Sequential", "Net.encoder"),
        ("nn.Module: Linear", "Net.encoder.0"),
        ("nn.Module: ReLU", "Net.encoder.1"),
        ("nn.Module: Linear", "Net.head"),
    ]


def test_modules_of_a_class_are_counted_from_0_in_every_recording():
    for _ in range(2):
        net = Net()
        with profile(with_modules=True) as prof:
            net.head(torch.ones((1, 4)))
            net(torch.ones((1, 4)))
        names = [event.name for event in prof.events() if event.name.startswith("nn.Module: ")]
        assert names == [f"nn.Module: {name}" for name in ("Linear_0", "Net_0", "Sequential_0", "Linear_1", "ReLU_0", "Linear_0")]


def test_without_the_flag_there_are_no_module_events_and_modules_pay_nothing(tmp_path):
    net = Net()
    with profile() as prof:
        assert nn_module._module_call_hook is None
        net(torch.ones((1, 4)))
    assert module_events(prof, tmp_path) == []


def test_the_hook_is_gone_after_the_profile():
    with profile(with_modules=True):
        assert nn_module._module_call_hook is not None
    assert nn_module._module_call_hook is None


def test_an_exception_in_a_module_ends_its_call(tmp_path):
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("forward")

    net = nn.Sequential(nn.ReLU(), Fails())
    with profile(with_modules=True) as prof:
        for _ in range(2):
            with contextlib.suppress(ValueError):
                net(torch.ones((1,)))
    assert [place for _, place in module_events(prof, tmp_path)] == ["Sequential", "Sequential.0", "Sequential.1"] * 2


def test_a_module_called_before_the_one_that_holds_it_gets_its_place_then(tmp_path):
    net = Net()
    with profile(with_modules=True) as prof:
        net.head(torch.ones((1, 4)))
        net(torch.ones((1, 4)))
    places = [place for _, place in module_events(prof, tmp_path)]
    assert places[0] == "Linear" and places[-1] == "Net.head"


def test_modules_that_come_and_go_are_not_confused(tmp_path):
    with profile(with_modules=True) as prof:
        for _ in range(20):
            nn.Linear(4, 4)(torch.ones((1, 4)))
            nn.ReLU()(torch.ones((1, 4)))
            gc.collect()
    assert [place for _, place in module_events(prof, tmp_path)] == ["Linear", "ReLU"] * 20


def test_ops_lie_inside_the_call_of_their_module():
    net = nn.Linear(4, 4)
    with profile(with_modules=True) as prof:
        net(torch.ones((1, 4)))
    (call,) = [event for event in prof.events() if event.name.startswith("nn.Module")]
    linear = next(event for event in prof.events() if event.name == "aten::linear")
    assert call.time_range.start <= linear.time_range.start <= linear.time_range.end <= call.time_range.end


def test_calls_are_not_even_looked_at_without_an_option_that_asks_for_them():
    with profile(record_shapes=True, profile_memory=True):
        assert nn_module._module_call_hook is None
    for option in ("with_modules", "with_stack"):
        with profile(**{option: True}):
            assert nn_module._module_call_hook is not None
        assert nn_module._module_call_hook is None


def test_with_stacks_calls_are_in_traces_and_in_the_tree_and_are_not_listed(tmp_path):
    net = Net()
    with profile(with_stack=True, python_calls=False) as prof:
        net(torch.ones((1, 4)))
    assert [place for _, place in module_events(prof, tmp_path)] == ["Net", "Net.encoder", "Net.encoder.0", "Net.encoder.1", "Net.head"]
    assert not any(event.name.startswith("nn.Module: ") for event in prof.events())
    assert not any(row.key.startswith("nn.Module: ") for row in prof.key_averages())

    def names(nodes):
        return {node.name for node in nodes}.union(*(names(node.children) for node in nodes))

    assert "nn.Module: Net_0" in names(prof.profiler.kineto_results.experimental_event_tree())


class Overridden(Net):
    """A module whose methods must not be called."""

    def named_modules(self, *args, **keywords):
        raise AssertionError("named_modules() was called")

    modules = children = named_children = named_modules


@pytest.mark.parametrize("option", ["with_modules", "with_stack"])
def test_places_are_found_without_calls_of_methods_of_the_module(tmp_path, capfd, option):
    net = Overridden()
    with profile(**{option: True}) as prof:
        net(torch.ones((1, 4)))
    assert [place for _, place in module_events(prof, tmp_path)][:3] == ["Overridden", "Overridden.encoder", "Overridden.encoder.0"]
    assert capfd.readouterr().err == ""


def test_no_function_of_the_profiler_is_among_python_calls(tmp_path):
    net = Net()
    with profile(with_stack=True, python_calls=True) as prof:
        net(torch.ones((1, 4)))
    names = [event.name for event in prof.events()]
    assert "nn.Module: Net_0" in names
    assert not [name for name in names if "profiler/_modules.py" in name or "named_modules" in name]


def test_a_module_that_is_reachable_twice_has_its_first_place_and_missing_ones_are_skipped(tmp_path):
    net = Net()
    net.missing = None
    net._modules["none"] = None
    net._modules["again"] = net.head
    net._modules["itself"] = net
    net._modules["text"] = "not a module"
    with profile(with_modules=True) as prof:
        net(torch.ones((1, 4)))
    assert [place for _, place in module_events(prof, tmp_path)] == [
        "Net",
        "Net.encoder",
        "Net.encoder.0",
        "Net.encoder.1",
        "Net.head",
    ]


@pytest.mark.parametrize("children", [None, 3, "missing"])
def test_a_module_whose_children_are_no_dictionary_is_recorded(tmp_path, children):
    class Odd(nn.Module):
        def forward(self, x):
            return x

    odd = Odd()
    if children == "missing":
        del odd.__dict__["_modules"]
    else:
        odd.__dict__["_modules"] = children
    with profile(with_modules=True) as prof:
        odd(torch.ones((1, 4)))
    assert [place for _, place in module_events(prof, tmp_path)] == ["Odd"]
