"""torch.compile, torch.export and torch.jit compile a program that uses our record_function as they compile one that uses torch's."""

import subprocess
import sys

import pytest
from mindtorch_v2.profiler import profile, record_function


@pytest.fixture
def dynamo(torch):
    import torch._dynamo as dynamo

    dynamo.reset()
    yield dynamo
    dynamo.reset()


def block(scope):
    def program(x):
        with scope("block", "some text"):
            y = x + 1
        return y * 2

    return program


def decorated(scope):
    @scope("decorated")
    def inner(x):
        return x + 1

    return lambda x: inner(x) * 2


def made_outside(scope):
    outside = scope("outside")

    def program(x):
        with outside:
            return x + 1

    return program


def counters_of(dynamo, torch, program, **options):
    dynamo.reset()
    dynamo.utils.counters.clear()
    torch.compile(program, backend="eager", **options)(torch.ones(3))
    return {group: dict(counts) for group, counts in dynamo.utils.counters.items() if counts}


@pytest.mark.parametrize("in_graph", [False, True])
@pytest.mark.parametrize("make", [block, decorated, made_outside])
def test_a_compiled_program_has_one_graph_as_with_torchs_scope(torch, dynamo, make, in_graph):
    # An option of later releases: whether scopes become part of the graph.
    if in_graph and not hasattr(dynamo.config, "capture_profiler_record_function"):
        pytest.skip("this torch never puts scopes into a graph")
    with dynamo.config.patch({"capture_profiler_record_function": True} if in_graph else {}):
        theirs = counters_of(dynamo, torch, make(torch.profiler.record_function), fullgraph=True)
        ours = counters_of(dynamo, torch, make(record_function), fullgraph=True)
    assert ours == theirs
    assert ours["stats"]["unique_graphs"] == 1


def profiled_block(profile_class, **options):
    def program(x):
        with profile_class(**options):
            y = x + 1
        return y * 2

    return program


@pytest.mark.parametrize("module", ["profiler", "autograd.profiler"])
def test_a_profile_in_compiled_code_is_ignored_as_torchs_is(torch, dynamo, module):
    import importlib

    classes = [importlib.import_module(f"{package}.{module}").profile for package in ("torch", "mindtorch_v2")]
    theirs, ours = (counters_of(dynamo, torch, profiled_block(each, record_shapes=True), fullgraph=True) for each in classes)
    assert ours == theirs
    assert ours["stats"]["unique_graphs"] == 1 and "graph_break" not in ours


def test_arguments_that_torch_does_not_know_are_ignored_with_the_profile(torch, dynamo):
    program = profiled_block(profile, activities=["cpu"], python_calls=False, on_trace_ready=None)
    assert counters_of(dynamo, torch, program, fullgraph=True)["stats"]["unique_graphs"] == 1


def test_a_profile_around_compiled_code_records_it(torch, dynamo):
    compiled = torch.compile(profiled_block(profile), backend="eager", fullgraph=True)
    compiled(torch.ones(3))
    assert {"aten::add", "aten::mul"} <= set(recorded_names(lambda: compiled(torch.ones(3))))


@pytest.mark.parametrize("first", ["mindtorch_v2.autograd.profiler", "torch._dynamo"])
def test_profiles_are_ignored_in_whatever_order_modules_are_imported(torch, first):
    program = f"""
import {first}
import torch
from mindtorch_v2.autograd import profiler as legacy
from mindtorch_v2.profiler import profile
def program(x):
    with profile(), legacy.profile():
        return x + 1
torch.compile(program, backend="eager", fullgraph=True)(torch.ones(1))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def nodes_of(torch, program, strict):
    class Model(torch.nn.Module):
        def forward(self, x):
            return program(x)

    exported = torch.export.export(Model(), (torch.ones(3),), strict=strict)
    return [str(node.target) for node in exported.graph.nodes]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("make", [block, decorated])
def test_a_program_is_exported_as_with_torchs_scope(torch, dynamo, make, strict):
    assert nodes_of(torch, make(record_function), strict) == nodes_of(torch, make(torch.profiler.record_function), strict)


def recorded_names(program):
    with profile() as prof:
        program()
    return [event.name for event in prof.events()]


def test_scripted_code_keeps_the_scope(torch):
    scripted = torch.jit.script(block(record_function))
    theirs = torch.jit.script(block(torch.profiler.record_function))
    assert [node.kind() for node in scripted.graph.nodes()] == [node.kind() for node in theirs.graph.nodes()]
    assert recorded_names(lambda: scripted(torch.ones(3))).count("block") == 1


@pytest.mark.parametrize("make", [block, decorated])
def test_traced_code_keeps_the_scope(torch, make):
    traced = torch.jit.trace(make(record_function), torch.ones(3))
    theirs = torch.jit.trace(make(torch.profiler.record_function), torch.ones(3))
    kinds = [node.kind() for node in traced.graph.nodes()]
    assert kinds == [node.kind() for node in theirs.graph.nodes()]
    assert "profiler::_record_function_enter_new" in kinds
    assert recorded_names(lambda: traced(torch.ones(3))).count(make.__name__) == 1


def test_a_scope_is_recorded_while_its_code_is_traced(torch):
    names = recorded_names(lambda: torch.jit.trace(block(record_function), torch.ones(3), check_trace=False))
    assert names.count("block") == 1


def test_the_profiler_may_be_imported_before_torch_and_does_not_import_dynamo(torch):
    program = """
import sys
from mindtorch_v2.profiler import record_function
assert "torch" not in sys.modules
import torch
assert "torch._dynamo" not in sys.modules
def program(x):
    with record_function("scope"):
        return x + 1
assert "_record_function_enter" in str(torch.jit.trace(program, torch.ones(1)).graph)
torch.compile(program, backend="eager", fullgraph=True)(torch.ones(1))
"""
    subprocess.run([sys.executable, "-c", program], check=True)


# --- Modules ---


def network(torch):
    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(4, 2)))


def test_a_profile_with_modules_causes_no_recompilation_and_no_graph_break(torch, dynamo):
    def run(profiled):
        dynamo.reset()
        dynamo.utils.counters.clear()
        before, during = (torch.compile(network(torch), backend="eager", fullgraph=True) for _ in range(2))
        before(torch.ones(1, 4))
        if profiled:
            with profile(with_modules=True) as prof:
                before(torch.ones(1, 4))
                during(torch.ones(1, 4))
            assert any(event.name.startswith("nn.Module: ") for event in prof.events())
        else:
            before(torch.ones(1, 4))
            during(torch.ones(1, 4))
        before(torch.ones(1, 4))
        during(torch.ones(1, 4))
        return {group: dict(counts) for group, counts in dynamo.utils.counters.items() if counts}

    without = run(profiled=False)
    with dynamo.config.patch({"error_on_recompile": True}):
        assert run(profiled=True) == without


def test_modules_are_recorded_without_hooks_and_without_a_changed_attribute(torch):
    from torch.nn.modules import module

    def seen():
        return module._has_any_global_hook(), torch.nn.Module.__call__, torch.nn.Linear.__call__, torch.nn.Module._call_impl

    before = seen()
    with profile(with_modules=True) as prof:
        during = seen()
        network(torch)(torch.ones(1, 4))
    assert during == before == seen()
    names = [event.name for event in prof.events() if event.name.startswith("nn.Module: ")]
    assert names == [
        "nn.Module: Sequential_0",
        "nn.Module: Linear_0",
        "nn.Module: Sequential_1",
        "nn.Module: ReLU_0",
        "nn.Module: Linear_1",
    ]


def test_a_module_that_raises_ends_its_event(torch):
    class Broken(torch.nn.Module):
        def forward(self, x):
            raise ValueError("broken")

    with profile(with_modules=True) as prof:
        with pytest.raises(ValueError, match="broken"):
            Broken()(torch.ones(1))
        torch.zeros(1)
    broken, zeros = (next(e for e in prof.events() if e.name == name) for name in ("nn.Module: Broken_0", "aten::zeros"))
    assert broken.time_range.end <= zeros.time_range.start


def test_a_class_that_is_called_in_a_way_of_its_own_stays_as_it_is(torch):
    class Called(torch.nn.Module):
        def __call__(self, x):
            return "called"

    with profile(with_modules=True):
        assert Called()(1) == "called"
    assert Called()(1) == "called"


def test_the_path_of_a_module_follows_the_model_that_it_is_called_in(torch):
    child = torch.nn.Linear(4, 4)
    parent = torch.nn.Sequential(child)
    with profile(with_modules=True) as prof:
        child(torch.ones(1, 4))
        parent(torch.ones(1, 4))
    paths = [event.attributes["Module Hierarchy"] for event in prof.events() if event.name.startswith("nn.Module: Linear")]
    assert paths == ["Linear", "Sequential.0"]
