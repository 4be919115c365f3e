"""Scopes in programs that use them in their own way: bound early, kept in modules, in modules with odd methods."""

import copy
import io

import pytest


@pytest.fixture
def early(torch):
    """The class, as a program gets it that imports it by name before any profile."""
    return torch._C._profiler._RecordFunctionFast


def names(prof):
    return [event.name for event in prof.events() if event.name.startswith("early")]


def test_a_class_that_was_bound_before_the_profile_is_recorded(torch, early):
    from mindtorch_v2.profiler import profile

    with profile(record_shapes=True) as ours, early("early", [torch.ones(3), 2], {"stream": 0}):
        torch.ones(3)
    (event,) = [event for event in ours.events() if event.name == "early"]
    assert (event.concrete_inputs, event.input_shapes, event.kwinputs) == ([None, 2], [[3], []], {"stream": 0})
    assert [child.name for child in event.cpu_children] == ["aten::ones"]


def test_the_class_is_torchs_before_and_after_the_profile(torch, early):
    from mindtorch_v2.profiler import profile

    before = type(early("early"))
    with profile():
        assert torch._C._profiler._RecordFunctionFast is early
        scope = early("early")
    assert type(early("early")) is before is early
    with scope:  # of a profile that is over
        pass


def test_torchs_profiler_records_it_too_while_both_run(torch, early):
    import mindtorch_v2.profiler

    def program():
        with early("early"):
            pass

    cpu = [torch.profiler.ProfilerActivity.CPU]
    with mindtorch_v2.profiler.profile() as ours, torch.profiler.profile(activities=cpu) as theirs:
        kept = early("early kept")
        program()
    assert (names(ours), names(theirs)) == (["early"], ["early"])
    with torch.profiler.profile(activities=cpu) as later:
        program()
        with kept:
            pass
    assert names(later) == ["early", "early kept"]


@pytest.mark.filterwarnings("ignore:Unable to infer type")
def test_keyword_values_are_those_that_torch_keeps(torch):
    import mindtorch_v2.profiler

    values = {"ints": [1, 2], "none": None, "text": "a", "real": 0.5, "flag": True, "texts": ["a", "b"], "empty": [], "object": {}}
    kept = []
    for profiler in (torch.profiler, mindtorch_v2.profiler):
        for keyword in ({}, {"scope": "user_scope"}):
            with profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True) as prof:
                scope = torch._C._profiler._RecordFunctionFast("early", (), values | keyword)
                scope.__enter__()
                scope.__exit__(None, None, None)
            (event,) = [event for event in prof.events() if event.name == "early"]
            kept.append(event.kwinputs)
    if torch.__version__ >= (2, 13):
        assert kept[:2] == kept[2:]
    assert kept[2] == values | {"object": "NULL"}
    assert kept[3] == kept[2] | {"scope": "user_scope"}


def test_a_module_that_holds_a_scope_can_be_copied_and_saved(torch):
    from mindtorch_v2.profiler import profile, record_function

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scope = record_function("early")

        def forward(self, x):
            with self.scope:
                return x + 1

    globals()["Block"] = Block
    Block.__qualname__ = "Block"
    file = io.BytesIO()
    torch.save(Block(), file)
    file.seek(0)
    copies = [copy.deepcopy(Block()), torch.load(file, weights_only=False), torch.optim.swa_utils.AveragedModel(Block())]
    with profile() as prof:
        for module in copies:
            module(torch.ones(3))
    assert names(prof) == ["early"] * 3


@pytest.mark.parametrize("option", ["with_modules", "with_stack", "python_calls"])
def test_places_of_modules_are_found_without_calls_of_their_methods(torch, option):
    from mindtorch_v2.profiler import profile

    calls = []

    class Overridden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(4, 4)

        def named_modules(self, *args, **keywords):
            calls.append("named_modules")
            return super().named_modules(*args, **keywords)

        def forward(self, x):
            return self.inner(x)

    module = Overridden()
    with profile(**{option: True}) as prof:
        module(torch.ones(2, 4))
    assert calls == []
    assert not [event.name for event in prof.events() if "named_modules" in event.name or "/_modules.py" in event.name]
