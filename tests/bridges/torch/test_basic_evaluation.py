"""torch's evaluation of a profile (torch.profiler._utils.BasicEvaluation) reads our profiles."""

import re
from collections import Counter

import mindtorch_v2.profiler
import pytest


@pytest.fixture(scope="module")
def profiles(torch, training):
    """(torch's, ours) of one step with everything that is in the tree."""
    step = training("mlp")
    step()
    found = []
    for module in (torch.profiler, mindtorch_v2.profiler):
        with module.profile(activities=[module.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True) as prof:
            step()
        found.append(prof)
    return found


@pytest.fixture(scope="module")
def evaluations(profiles):
    from torch.profiler._utils import BasicEvaluation

    return [BasicEvaluation(prof.profiler) for prof in profiles]


def all_nodes(roots):
    for node in roots:
        yield node
        yield from all_nodes(node.children)


def test_every_node_has_an_id_of_its_own_and_an_op_that_of_its_event(profiles):
    prof = profiles[1]
    nodes = list(all_nodes(prof.profiler.kineto_results.experimental_event_tree()))
    assert {str(node.tag) for node in nodes} >= {f"_EventType.{kind}" for kind in ("TorchOp", "PyCall", "Allocation")}
    assert len({node.id for node in nodes}) == len(nodes)
    ops = {node.id: node.name for node in nodes if node.tag.name == "TorchOp"}
    assert ops == {event.id: event.name for event in prof.events() if event.name != "[memory]"}


def test_the_evaluation_has_the_same_ops_and_allocations(evaluations):
    theirs, ours = (
        Counter(event.name for event in evaluation.events if event.tag.name in ("TorchOp", "Allocation")) for evaluation in evaluations
    )
    assert theirs["[memory]"] > 0 and theirs["aten::addmm"] > 0
    # torch counts what its own start and stop allocate, too.
    assert ours - theirs == {} and set(theirs) == set(ours)


def test_the_evaluation_has_the_own_time_of_each_event(evaluations):
    ours = evaluations[1]
    for key, metrics in ours.metrics.items():
        children = sum(child.duration_time_ns for child in key.event.children)
        assert metrics.self_time_ns == key.event.duration_time_ns - children
        assert metrics.queue_depth == 0


def test_the_evaluation_reports_in_the_same_form(evaluations, capsys):
    reports = []
    for evaluation in evaluations:
        events = evaluation.get_optimizable_events(2, print_enable=True)
        reports.append((len(events), re.sub(r"\d+", "N", capsys.readouterr().out)))
    assert reports[1] == reports[0]
    assert "No events to optimize" in reports[0][1]
