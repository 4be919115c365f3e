"""What torch's own parts say about themselves: modules, overloads, compiled graphs, collectives."""

import json
from collections import Counter

import pytest


def profiled(program, **options):
    from mindtorch_v2.profiler import profile

    with profile(activities=["cpu"], **options) as p:
        program()
    return p


def test_calls_of_modules_are_scopes_that_hold_their_ops(torch):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
    p = profiled(lambda: [model(torch.ones(2, 4)) for _ in range(2)], with_modules=True)
    names = Counter(event.name for event in p.events())
    assert {name: count for name, count in names.items() if name.startswith("nn.Module")} == {
        "nn.Module: Sequential_0": 2,
        "nn.Module: Linear_0": 2,
        "nn.Module: ReLU_0": 2,
        "nn.Module: Linear_1": 2,
    }


def test_a_module_that_throws_ends_its_scope(torch):
    model = torch.nn.Linear(4, 4)

    def program():
        with pytest.raises(RuntimeError):
            model(torch.ones(3, 3))
        model(torch.ones(4, 4))

    events = [event for event in profiled(program, with_modules=True).events() if event.name == "nn.Module: Linear_0"]
    assert len(events) == 2
    assert events[0].time_range.end <= events[1].time_range.start


def test_overloads_are_named_when_asked_for(torch, tmp_path):
    if torch.__version__ < (2, 7):
        pytest.skip("torch tells the overload since 2.7")
    from mindtorch_v2.profiler import _ExperimentalConfig

    def program():
        torch.ones(3).add(torch.ones(3))
        torch.ones(3).mul_(2)

    p = profiled(program, experimental_config=_ExperimentalConfig(capture_overload_names=True))
    overloads = {event.name: event.overload_name for event in p.events()}
    assert overloads["aten::add"] == "Tensor"
    assert overloads["aten::mul_"] == "Tensor"
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    names = {event["name"] for event in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]}
    assert {"aten::add.Tensor", "aten::mul_.Tensor"} <= names


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_functions_of_torchscript_are_recorded_as_torch_records_them(torch):
    @torch.jit.script
    def doubled(x: torch.Tensor):
        return x + x

    @torch.jit.script
    def quadrupled(x: torch.Tensor):
        return doubled(doubled(x))

    def program():
        for _ in range(3):
            quadrupled(torch.ones(3))

    program()  # torch looks at the first runs of a function to make it faster
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        program()
    ours = profiled(program)
    counts = [Counter((event.name, event.scope) for event in prof.events()) for prof in (theirs, ours)]
    assert counts[1] == counts[0]
    assert ("quadrupled", 2) in counts[1] and ("aten::add", 0) in counts[1]


def test_ours_and_torchs_scopes_nest(torch):
    from mindtorch_v2.profiler import record_function

    def program():
        with record_function("ours"), torch.profiler.record_function("torch's"), record_function("inner"):
            torch.ones(3)

    events = {event.name: event for event in profiled(program).events()}
    assert events["torch's"].cpu_parent.name == "ours"
    assert events["inner"].cpu_parent.name == "torch's"
    assert events["aten::ones"].cpu_parent.name == "inner"


def test_ops_of_the_embedded_runtime_and_of_torch_are_in_one_recording(torch):
    import mindtorch_v2

    def program():
        torch.ones(3).neg()
        mindtorch_v2.ones(3).exp()
        torch.ones(3).sin()

    ops = [event.name for event in profiled(program).events() if event.name in ("aten::neg", "aten::exp", "aten::sin")]
    assert ops == ["aten::neg", "aten::exp", "aten::sin"]


def compiled_annotations(events):
    wanted = ("Torch-Compiled Region", "## Call CompiledFxGraph", "AOTDispatcher Runtime Wrapper", "TorchDynamo Cache Lookup", "Pregraph")
    return Counter(event.name.split(":")[0].split(" f")[0] for event in events if event.name.startswith(wanted))


def test_compiled_functions_annotate_their_graphs_as_they_do_for_torch(torch):
    compiled = torch.compile(lambda x: (x * 2).sin().sum())
    x = torch.ones(64, requires_grad=True)
    for _ in range(2):
        compiled(x).backward()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        compiled(x).backward()
    ours = profiled(lambda: compiled(x).backward())
    assert sum(compiled_annotations(theirs.events()).values()) > 0
    assert compiled_annotations(ours.events()) == compiled_annotations(theirs.events())


@pytest.fixture
def traced_by_both(torch, tmp_path):
    """traced_by_both(program) is what the traces of torch.profiler and of ours contain."""
    import mindtorch_v2.profiler

    def profile_both(program, **options):
        traces = []
        for profiler in (torch.profiler, mindtorch_v2.profiler):
            with profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options) as p:
                program()
            p.export_chrome_trace(str(tmp_path / "trace.json"))
            traces.append(json.loads((tmp_path / "trace.json").read_text())["traceEvents"])
        return traces

    return profile_both


@pytest.mark.parametrize(("option", "in_torch", "in_ours"), [("with_modules", 0, 2), ("with_stack", 2, 2)])
def test_torch_records_calls_of_modules_with_stacks_and_ours_with_modules_too(torch, traced_by_both, option, in_torch, in_ours):
    model = torch.nn.Sequential(torch.nn.Linear(4, 4))
    traces = traced_by_both(lambda: model(torch.ones(2, 4)), **{option: True})
    assert [sum(event["name"].startswith("nn.Module: ") for event in trace) for trace in traces] == [in_torch, in_ours]


@pytest.mark.parametrize(("record_shapes", "in_torch"), [(False, "cpu_op"), (True, "user_annotation")])
def test_annotations_that_torchs_own_code_makes_for_users_are_theirs_with_and_without_shapes(
    torch, traced_by_both, record_shapes, in_torch
):
    if torch.__version__ < (2, 10):
        pytest.skip("torch reads the keyword since 2.10")

    def program():
        with torch._C._profiler._RecordFunctionFast("made by torch", (), {"scope": "user_scope"}):
            pass

    traces = traced_by_both(program, record_shapes=record_shapes)
    assert [event["cat"] for trace in traces for event in trace if event["name"] == "made by torch"] == [in_torch, "user_annotation"]


def test_torch_loses_keyword_values_with_a_quotation_mark_and_ours_keeps_them(torch, traced_by_both):
    def program():
        with torch._C._profiler._RecordFunctionFast("made by torch", (), {"quoted": 'a "word"', "plain": "a word"}):
            pass

    theirs, ours = (
        next(event["args"] for event in trace if event["name"] == "made by torch") for trace in traced_by_both(program, record_shapes=True)
    )
    assert theirs["plain"] == ours["plain"] == "a word"
    assert (theirs["quoted"], ours["quoted"]) == ("None", 'a "word"')


def test_arrows_to_backward_nodes_do_not_depend_on_torchs_private_switch(torch, traced_by_both):
    x = torch.ones(3, requires_grad=True)
    torch._C._profiler._set_fwd_bwd_enabled_val(False)
    try:
        traces = traced_by_both(lambda: (x * x).sum().backward())
    finally:
        torch._C._profiler._set_fwd_bwd_enabled_val(True)
    assert [sum(event.get("cat") == "fwdbwd" for event in trace) for trace in traces] == [0, 4]


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_ops_that_torchscript_runs_name_their_modules_in_torch_alone(torch, traced_by_both):
    scripted, x = torch.jit.script(torch.nn.Sequential(torch.nn.Linear(4, 4))), torch.ones(2, 4)
    theirs, ours = traced_by_both(lambda: scripted(x), with_modules=True)
    for trace, is_named in ((theirs, True), (ours, False)):
        (linear,) = (event for event in trace if event["name"] == "aten::linear")
        assert ("Module Hierarchy" in linear["args"]) == is_named
