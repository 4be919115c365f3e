"""The same program in the same process under torch's profiler and ours: what is recorded is the same."""

import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import mindtorch_v2.profiler
import pytest

PROGRAM = Path(__file__).with_name("run_program.py")


@pytest.fixture(scope="module", params=["mlp", "cnn", "transformer", "lstm"])
def traces(request, torch, read_trace, tmp_path_factory):
    """(torch's, ours) of steps of a program, with shapes and memory."""
    folder = tmp_path_factory.mktemp(request.param)
    done = subprocess.run([sys.executable, PROGRAM, request.param, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read_trace(folder / "torch.json"), read_trace(folder / "ours.json")


def assert_equal_counts(theirs, ours):
    assert ours - theirs == {}, "only ours"
    assert theirs - ours == {}, "only torch's"


def test_the_same_ops_and_annotations_are_recorded_as_often(traces):
    theirs, ours = traces
    assert len(theirs.events) > 50
    assert_equal_counts(theirs.count(lambda e: (e.name, e.category)), ours.count(lambda e: (e.name, e.category)))


@pytest.mark.parametrize("argument", ["Input Dims", "Input type", "Input Strides"])
def test_sizes_types_and_strides_of_arguments_are_the_same(traces, argument):
    theirs, ours = traces
    assert_equal_counts(theirs.count(lambda e: (e.name, e.argument(argument))), ours.count(lambda e: (e.name, e.argument(argument))))


def test_values_of_arguments_are_the_same(traces):
    theirs, ours = traces

    def plain(text):
        """Reals are only counted: torch writes 17 digits of them and we as many as are needed, and an optimizer's change with its steps."""
        if re.fullmatch(r"-?[\d.]+(e[-+]\d+)?", text) and not text.isdigit():
            return "real"
        return text

    def values(event):
        texts = event.args.get("Concrete Inputs")
        return (event.name, texts and tuple(map(plain, texts)))

    assert_equal_counts(theirs.count(values), ours.count(values))


@pytest.mark.parametrize("traces", ["cnn", "transformer"], indirect=True)
def test_lists_of_truth_values_are_shown_as_torch_shows_them(traces):
    for trace in traces:
        masks = {text for event in trace.events for text in event.args.get("Concrete Inputs", []) if "True," in text}
        assert "[True, True, True]" in masks


def test_ops_have_the_same_parents(traces):
    theirs, ours = traces

    def pair(event):
        return (event.parent.name if event.parent else None, event.name)

    assert_equal_counts(theirs.count(pair), ours.count(pair))


def test_ops_allocate_the_same_memory(traces):
    theirs, ours = traces
    assert any(event.memory > 0 for event in theirs.events)
    assert_equal_counts(theirs.count(lambda e: (e.name, e.memory)), ours.count(lambda e: (e.name, e.memory)))
    assert sum(ours.memory) == sum(theirs.memory)


def test_forward_ops_are_linked_to_their_backward_nodes_as_often(traces):
    theirs, ours = traces
    assert theirs.flows["s"] > 0
    assert ours.flows == theirs.flows


def arrows_of(torch, module, program):
    """The ends of the arrows of autograd: names, and which of the events of that name it is."""
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        program(torch)
    ends, seen = {}, Counter()
    for event in sorted(prof.events(), key=lambda event: event.time_range.start):
        seen[event.name] += 1
        if event.flow_type == 1:
            ends.setdefault(event.flow_id, {})[event.flow_start] = (event.name, seen[event.name])
    return sorted((each[True], each[False]) for each in ends.values())


def two_passes_over_one_graph(torch):
    result = (torch.ones(2, requires_grad=True) * 2).sum()
    result.backward(retain_graph=True)
    result.backward()


def a_jacobian(torch):
    torch.autograd.functional.jacobian(lambda x: x * 2, torch.ones(2, requires_grad=True))


def a_second_derivative(torch):
    x = torch.ones(2, requires_grad=True)
    (gradient,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    gradient.sum().backward()


@pytest.mark.parametrize("program", [two_passes_over_one_graph, a_jacobian, a_second_derivative])
def test_arrows_of_a_graph_that_is_evaluated_again_end_where_torchs_end(torch, program):
    program(torch)
    theirs, ours = (arrows_of(torch, module, program) for module in (torch.profiler, mindtorch_v2.profiler))
    assert ours == theirs
    assert any(backward == ("MulBackward0", 1) for _, backward in ours)


def test_backward_nodes_name_the_sequence_number_of_their_forward_op(traces):
    theirs, ours = traces

    def numbers(trace):
        """Ops and nodes by sequence number, which itself differs from run to run."""
        by_number = {}
        for event in trace.events:
            if event.args.get("Sequence number", -1) >= 0:
                key = (event.name, event.args["Fwd thread id"] != 0)
                by_number.setdefault(event.args["Sequence number"], []).append(key)
        return sorted(json.dumps(sorted(group)) for group in by_number.values())

    assert numbers(ours) == numbers(theirs)


def test_every_type_of_elements_has_torchs_name(torch, read_trace, tmp_path):
    from mindtorch_v2.profiler import profile

    types = sorted({value for value in vars(torch).values() if isinstance(value, torch.dtype)}, key=str)
    tensors = [torch.empty(2, dtype=dtype) for dtype in types if not str(dtype).startswith(("torch.qint", "torch.quint"))]
    tensors += [torch.quantize_per_tensor(torch.ones(2), 1.0, 0, dtype) for dtype in (torch.qint8, torch.quint8, torch.qint32)]
    names = []
    for make in (torch.profiler.profile, profile):
        with make(record_shapes=True) as prof:
            for tensor in tensors:
                tensor.detach()
        prof.export_chrome_trace(str(tmp_path / "trace.json"))
        events = read_trace(tmp_path / "trace.json").events
        names.append([event.args["Input type"] for event in events if event.name == "aten::detach"])
    assert names[1] == names[0]
    assert ["c10::complex<float>"] in names[0] and [""] not in names[0]


@pytest.mark.parametrize("options", [{}, {"profile_memory": True}])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_tensors_whose_layout_has_no_strides_have_none(torch, read_trace, tmp_path, options):
    coo, csr = torch.eye(2).to_sparse(), torch.eye(4).to_sparse_csr()

    def program():
        coo @ torch.ones(2, 2)
        csr @ torch.ones(4, 1)
        torch.cat([coo, coo])

    def strides(module):
        with module.profile(activities=[module.ProfilerActivity.CPU], record_shapes=True, **options) as prof:
            program()
        prof.export_chrome_trace(str(tmp_path / "trace.json"))
        return read_trace(tmp_path / "trace.json").count(lambda e: (e.name, e.argument("Input Strides")))

    program()
    theirs, ours = strides(torch.profiler), strides(mindtorch_v2.profiler)
    assert ("aten::matmul", "[[], [2, 1]]") in theirs and ("aten::cat", "[[[], []], []]") in theirs
    assert_equal_counts(theirs, ours)


@pytest.fixture
def scalars_told_by_both(torch, read_trace, tmp_path):
    """scalars_told_by_both(program) is the (type, text) of the second argument of each aten::full, from torch and from ours."""
    from mindtorch_v2.profiler import profile

    def profile_both(program):
        told = []
        for make in (torch.profiler.profile, profile):
            with make(record_shapes=True) as prof:
                program()
            prof.export_chrome_trace(str(tmp_path / "trace.json"))
            calls = [event.args for event in read_trace(tmp_path / "trace.json").events if event.name == "aten::full"]
            told.append([(call["Input type"][1], call["Concrete Inputs"][1]) for call in calls])
        return told

    return profile_both


def test_torch_shows_17_digits_of_reals_and_ours_as_many_as_are_needed(torch, scalars_told_by_both):
    theirs, ours = scalars_told_by_both(lambda: [torch.full((2,), value) for value in (0.1, 1 / 3, 1e-8)])
    assert theirs == [("Scalar", text) for text in ("0.10000000000000001", "0.33333333333333331", "1e-08")]
    assert ours == [("Scalar", text) for text in ("0.1", "0.3333333333333333", "1e-08")]


def test_torch_shows_complex_scalars_and_ours_does_not(torch, scalars_told_by_both):
    theirs, ours = scalars_told_by_both(lambda: torch.full((2,), 2 + 1j))
    assert (theirs, ours) == ([("Scalar", "2.+1.j")], [("", "")])


def test_torch_shows_symbolic_scalars_and_ours_does_not(torch, scalars_told_by_both):
    from torch.fx.experimental.proxy_tensor import make_fx

    theirs, ours = scalars_told_by_both(lambda: make_fx(lambda x: torch.full((2,), x.shape[0]), tracing_mode="symbolic")(torch.ones(3, 4)))
    assert len(ours) == len(theirs) > 0
    assert {kind for kind, _ in theirs} == {"Scalar"}
    assert set(ours) == {("", "")}


def test_events_on_the_cpu_have_the_process_as_their_device_in_torch_and_the_thread_as_their_resource_in_ours(torch):
    found = []
    for module in (torch.profiler, mindtorch_v2.profiler):
        with module.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
            torch.ones(1)
        (event,) = (event for event in prof.events() if event.name == "aten::ones")
        found.append((event.device_index, event.device_resource_id))
    assert found == [(os.getpid(), threading.get_native_id()), (0, event.thread)]


def test_stacks_name_the_definition_in_torch_and_the_running_line_in_ours(torch):
    def line_of(make, **options):
        with make(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True, **options) as prof:
            torch.nn.Linear(2, 2)(torch.ones(1, 2))
        (stack,) = (event.stack for event in prof.events() if event.name == "aten::linear")
        return next(entry for entry in stack if entry.endswith("): forward"))

    forward = torch.nn.Linear.forward.__code__
    theirs = line_of(torch.profiler.profile, experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True))
    assert theirs == f"torch/nn/modules/linear.py({forward.co_firstlineno}): forward"
    running = max(line for _, _, line in forward.co_lines() if line)
    assert line_of(mindtorch_v2.profiler.profile) == f"{forward.co_filename}({running}): forward"
