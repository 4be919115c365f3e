"""Execution traces of torch's ops have the nodes, values and schemas that torch's own observer writes."""

import json
from collections import Counter

import pytest
from mindtorch_v2.profiler import ExecutionTraceObserver, profile, record_function

ATTRIBUTES = ("seq_id", "scope", "op_schema", "kernel_backend", "kernel_file")
COLLECTIVE = ("collective_name", "dtype", "in_msg_nelems", "out_msg_nelems", "pg_name", "pg_size")


def attributes(node):
    return {each["name"]: each["value"] for each in node["attrs"]}


def ops_of(path):
    """Nodes of calls by id, in the order in which they began."""
    nodes = sorted(json.loads(path.read_text())["nodes"], key=lambda node: node["id"])
    return {node["id"]: node for node in nodes if not node["name"].startswith("[pytorch|")}


def is_tensor(value):
    return isinstance(value, list) and [type(each) for each in value] == [int] * 5 + [str]


def tensors_in(values):
    for value in values:
        if is_tensor(value):
            yield value
        elif isinstance(value, list):
            yield from tensors_in(value)


class Sight:
    """What a trace says, without the numbers of tensors and storages."""

    def __init__(self, ops):
        self.ops = ops

    def value(self, value):
        if is_tensor(value):
            return value[2:]
        if isinstance(value, list):
            return [self.value(each) for each in value]
        return f"{value:.6f}" if isinstance(value, float) else value  # torch writes six digits

    def node(self, node):
        parent = self.ops.get(node["ctrl_deps"])
        known = attributes(node)
        sides = [
            {**{key: node[side][key] for key in ("shapes", "types", "strides")}, "values": self.value(node[side]["values"])}
            for side in ("inputs", "outputs")
        ]
        return [node["name"], parent and parent["name"], *sides, *(known[name] for name in ATTRIBUTES)]

    def nodes(self):
        return [self.node(node) for node in self.ops.values()]


@pytest.fixture
def observed(torch, tmp_path):
    """Runs a program under torch's observer and under ours; returns the nodes of both."""

    def run(program, **options):
        theirs = torch.profiler.ExecutionTraceObserver().register_callback(str(tmp_path / "torch.json"))
        theirs.start()
        program()
        theirs.stop()
        theirs.unregister_callback()
        ours = ExecutionTraceObserver().register_callback(str(tmp_path / "ours.json"))
        with profile(activities=["cpu"], execution_trace_observer=ours, **options):
            program()
        return ops_of(tmp_path / "torch.json"), ops_of(tmp_path / "ours.json")

    return run


def trainer(torch):
    """A step on new tensors each time, so that both observers meet them for the first time."""

    def step():
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        loss = model(torch.randn(3, 4)).square().mean()
        loss.backward()
        optimizer.step()

    step()  # what is made once is made now
    return step


def without_sequence(node):
    return [*node[:4], *node[5:]]  # sequence numbers go on from run to run


def test_a_training_step_has_the_nodes_of_torchs_observer(torch, observed):
    theirs, ours = observed(trainer(torch))
    expected = Counter(
        (node["name"], json.dumps(node["inputs"]["shapes"]), json.dumps(node["outputs"]["types"])) for node in theirs.values()
    )
    found = Counter((node["name"], json.dumps(node["inputs"]["shapes"]), json.dumps(node["outputs"]["types"])) for node in ours.values())
    assert sum(expected.values()) > 100
    assert found == expected


def test_values_schemas_and_identities_are_those_of_torchs_observer(torch, observed):
    def forward():
        x = torch.ones(4, 3)
        part = x.view(2, 6)[:, 1:3]
        torch.cat([part, part * 2.5]).sum(dim=[0], keepdim=True)
        torch.empty(2, device="cpu", dtype=torch.int64).fill_(1)
        torch.std_mean(x)
        torch.nn.functional.batch_norm(x, None, None, training=True)  # tensors that are not defined

    theirs, ours = observed(forward)
    assert [without_sequence(node) for node in Sight(ours).nodes()] == [without_sequence(node) for node in Sight(theirs).nodes()]
    assert any(attributes(node)["op_schema"].startswith("aten::mul.Tensor(Tensor self") for node in ours.values())


def test_results_are_the_arguments_of_later_calls(torch, tmp_path):
    observer = ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    with profile(activities=["cpu"], execution_trace_observer=observer):
        part = torch.ones(4, 3).view(2, 6)[:, 1:3]
        part.sin()
    nodes = {node["name"]: node for node in ops_of(tmp_path / "et.json").values()}
    (ones,), (argument,) = (
        list(tensors_in(nodes[name][side]["values"])) for name, side in (("aten::ones", "outputs"), ("aten::sin", "inputs"))
    )
    (view,), (viewed,) = (list(tensors_in(nodes["aten::view"][side]["values"])) for side in ("inputs", "outputs"))
    assert view == ones
    assert viewed[0] != ones[0] != argument[0]
    assert viewed[1] == ones[1] == argument[1] > 0
    assert argument[2:] == [1, 4, 4, "cpu"]


@pytest.mark.parametrize("record_shapes", [False, True])
def test_the_numbers_are_those_of_the_profile(torch, tmp_path, read_trace, record_shapes):
    observer = ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    with profile(activities=["cpu"], execution_trace_observer=observer, record_shapes=record_shapes) as prof:
        torch.ones(2).sin()
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    in_trace = {event.args["Record function id"]: event for event in read_trace(tmp_path / "trace.json").events}
    nodes = ops_of(tmp_path / "et.json").values()
    assert {in_trace[attributes(node)["rf_id"]].name for node in nodes} == {node["name"] for node in nodes} >= {"aten::sin"}
    assert all(("Input Dims" in event.args) <= record_shapes for event in in_trace.values())


def test_our_scopes_have_neither_the_values_nor_the_numbers_of_torchs_ops(torch, tmp_path, read_trace):
    observer = ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    with profile(activities=["cpu"], execution_trace_observer=observer) as prof:
        for _ in range(5):
            torch.ones(2).relu()  # torch numbers its ops in each process: some of them have the numbers of our events
        for _ in range(20):
            with record_function("ours"):
                pass
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    nodes = list(ops_of(tmp_path / "et.json").values())
    ours = [node for node in nodes if node["name"] == "ours"]
    assert len(ours) == 20
    assert all(node["inputs"]["values"] == node["outputs"]["values"] == [] and attributes(node)["op_schema"] == "" for node in ours)
    numbers = [attributes(node)["rf_id"] for node in nodes]
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) == {event.args["Record function id"] for event in read_trace(tmp_path / "trace.json").events}


def test_numbers_of_tensors_go_on_over_the_stretches_of_a_trace(torch, tmp_path):
    x = torch.ones(3)
    observer = ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    for _ in range(2):
        observer.start()
        x.sin()
        observer.stop()
        x.cos()
    observer.unregister_callback()
    nodes = list(ops_of(tmp_path / "et.json").values())
    assert [node["name"] for node in nodes] == ["aten::sin", "aten::sin"]
    first, second = ({tensor[0] for tensor in tensors_in(node["inputs"]["values"])} for node in nodes)
    assert first == second != {0}


def test_nothing_is_kept_without_an_observer(torch):
    with profile(activities=["cpu"]) as prof:
        torch.ones(2).sin()
    assert all("Record function id" not in event.attributes for event in prof.events())


def test_torch_writes_six_digits_of_reals_and_ours_all_that_are_needed(torch, observed):
    theirs, ours = (
        [node["inputs"]["values"][1] for node in ops.values() if node["name"] == "aten::full"]
        for ops in observed(lambda: [torch.full((2,), value) for value in (1e-8, 0.1, 1 / 3)])
    )
    assert theirs == [0.0, 0.1, 0.333333]
    assert ours == [1e-8, 0.1, 1 / 3]
