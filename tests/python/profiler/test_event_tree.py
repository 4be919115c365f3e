"""experimental_event_tree(): raw events inside what was open around them."""

import gc

import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile, record_function


def work():
    with record_function("scope"):
        torch.ones((2, 2)).sum()


def tree_of(prof):
    return prof.profiler.kineto_results.experimental_event_tree()


def all_nodes(roots):
    for node in roots:
        yield node
        yield from all_nodes(node.children)


def shown(roots):
    """The tree as nested lists of names."""
    return [[node.name, *shown(node.children)] for node in roots]


def test_ops_lie_inside_scopes_and_ops():
    with profile() as prof:
        work()
    roots = tree_of(prof)
    assert shown(roots) == [["scope", ["aten::ones", ["aten::empty"], ["aten::fill_"]], ["aten::sum"]]]
    assert all(child.parent is node for node in all_nodes(roots) for child in node.children)
    assert {node.kind for node in all_nodes(roots)} == {"TorchOp"}


def test_times_are_those_of_the_events():
    with profile() as prof:
        work()
    raw = {event.name(): (event.start_ns(), event.end_ns()) for event in prof.profiler.kineto_results.events()}
    for node in all_nodes(tree_of(prof)):
        assert (node.start_time_ns, node.end_time_ns) == raw[node.name]
        assert node.duration_time_ns == node.end_time_ns - node.start_time_ns


def test_allocations_lie_inside_the_op_that_made_them():
    with profile(profile_memory=True) as prof:
        work()
    allocations = [node for node in all_nodes(tree_of(prof)) if node.kind == "Allocation"]
    assert allocations[0].parent.name == "aten::empty"
    assert allocations[0].extra_fields.alloc_size > 0


def test_recorded_python_calls_are_nodes():
    with profile(python_calls=True) as prof:
        work()
    (call,) = [node for node in all_nodes(tree_of(prof)) if node.name.endswith(": work")]
    assert [child.name for child in call.children if child.kind == "TorchOp"] == ["scope"]
    assert not call.is_derived
    assert call.extra_fields.callsite.function_name == "work"


def test_stacks_tell_the_functions_around_ops_if_calls_were_not_recorded():
    with profile(with_stack=True, python_calls=False) as prof:
        work()
        work()
    called = [node for node in all_nodes(tree_of(prof)) if node.name.endswith(": work")]
    assert called
    assert all(node.is_derived for node in called)
    assert [child.name for node in called for child in node.children] == ["scope", "scope"]
    ops = [node for node in all_nodes(tree_of(prof)) if node.name == "aten::sum"]
    assert all(node.parent.name == "scope" for node in ops)
    assert all(
        node.start_time_ns <= child.start_time_ns and child.end_time_ns <= node.end_time_ns for node in called for child in node.children
    )


def test_arguments_of_ops_have_shapes():
    with profile(record_shapes=True) as prof:
        torch.ones((2, 3)).sum()
    (op,) = [node for node in all_nodes(tree_of(prof)) if node.name == "aten::sum"]
    assert op.extra_fields.inputs[0].sizes == [2, 3]


def test_every_node_has_an_id_of_its_own():
    with profile(profile_memory=True, with_stack=True, python_calls=False) as prof:
        work()
        work()
    nodes = list(all_nodes(tree_of(prof)))
    assert {node.kind for node in nodes} == {"TorchOp", "PyCall", "Allocation"}
    assert len({node.id for node in nodes}) == len(nodes)
    assert all(node.id == node.correlation_id > 0 for node in nodes if node.kind == "TorchOp")


def test_no_garbage_is_looked_for_while_the_tree_is_made():
    def profiled(calls):
        with profile(record_shapes=True) as prof:
            for _ in range(calls):
                work()
        prof.events()
        return prof

    tree_of(profiled(1))  # the first tree imports what it needs
    prof = profiled(200)
    collections, thresholds = [], gc.get_threshold()
    gc.callbacks.append(watch := lambda phase, info: collections.append(phase))
    gc.set_threshold(100)
    try:
        tree_of(prof)
        found = collections.count("start")
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(watch)
    assert found <= 3  # as soon as they are allowed again
    assert gc.isenabled()
