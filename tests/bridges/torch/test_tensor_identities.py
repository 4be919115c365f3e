"""Which tensors ops took: identities in the tree of raw events, for the memory profiler of torch and for its own analyses."""

import gc

import pytest
from mindtorch_v2.profiler import profile


def tree_of(prof):
    return prof.profiler.kineto_results.experimental_event_tree()


def all_nodes(roots):
    for node in roots:
        yield node
        yield from all_nodes(node.children)


def node_of(prof, name):
    return next(node for node in all_nodes(tree_of(prof)) if node.name == name)


def argument(prof, name, index=0):
    return node_of(prof, name).extra_fields.inputs[index]


def test_an_argument_knows_its_tensor_and_its_storage(torch):
    x = torch.randn(4, 3)
    view = x.view(1, 12)
    with profile(record_shapes=True, profile_memory=True) as prof:
        x.sin()
        view[:, 2:].cos()
    sin, cos = argument(prof, "aten::sin"), argument(prof, "aten::cos")
    assert sin.impl_ptr == x._cdata
    assert sin.storage_data_ptr == cos.storage_data_ptr == x.untyped_storage().data_ptr()
    assert sin.id == cos.id
    assert (sin.dtype, sin.layout, sin.device) == (torch.float32, torch.strided, torch.device("cpu"))
    assert isinstance(sin, torch._C._profiler._TensorMetadata)


def test_a_tensor_whose_storage_changes_keeps_its_id_and_its_memory_gets_it(torch):
    with profile(record_shapes=True, profile_memory=True) as prof:
        x = torch.rand(4, 3)
        x.sin()
        x.resize_(40, 40)
        x.cos()
        del x
    before, after = argument(prof, "aten::sin"), argument(prof, "aten::cos")
    assert before.id == after.id
    assert before.allocation_id != after.allocation_id
    reports = [node.extra_fields for node in all_nodes(tree_of(prof)) if node.name == "[memory]"]
    assert [r.alloc_size > 0 for r in reports if r.allocation_id == after.allocation_id] == [True, False]
    assert {r.id for r in reports if r.allocation_id in (before.allocation_id, after.allocation_id)} == {before.id}


def test_addresses_are_not_used_twice_while_a_profile_runs(torch):
    with profile(record_shapes=True, profile_memory=True) as prof:
        for _ in range(200):
            torch.ones(1)
    tensors = [node.extra_fields.inputs[0] for node in all_nodes(tree_of(prof)) if node.name == "aten::fill_"]
    assert len({tensor.impl_ptr for tensor in tensors}) == 200
    assert len({tensor.id for tensor in tensors}) == 200


def test_the_data_of_tensors_is_not_kept(torch):
    with profile(record_shapes=True, profile_memory=True) as prof:
        torch.ones(1 << 20).sin()
    sizes = [node.extra_fields.alloc_size for node in all_nodes(tree_of(prof)) if node.name == "[memory]"]
    assert sum(size for size in sizes if abs(size) >= 1 << 22) == 0


@pytest.mark.parametrize("options", [{"record_shapes": True}, {"record_shapes": True, "with_stack": True}])
def test_identities_are_recorded_only_with_memory(torch, options):
    x = torch.ones(2)
    with profile(**options) as prof:
        x.sin()
    tensor = argument(prof, "aten::sin")
    assert (tensor.sizes, tensor.dtype) == ([2], torch.float32)
    assert tensor.id is None
    assert tensor.impl_ptr is None


def test_addresses_of_tensors_need_shapes_in_torch_and_memory_too_in_ours(torch):
    x = torch.ones(2)
    found = []
    for module in (torch.profiler.profile, profile):
        for options in ({"record_shapes": True}, {"record_shapes": True, "profile_memory": True}):
            with module(**options) as prof:
                x.sin()
            tensor = argument(prof, "aten::sin")
            found.append((tensor.impl_ptr is not None, tensor.id is not None))
    assert found == [(True, False), (True, True), (False, False), (True, True)]


def test_tensors_that_come_to_share_a_storage_late_have_one_id_each_in_ours_and_may_have_two_in_torch(torch):
    ids = []
    for module in (torch.profiler.profile, profile):
        with module(record_shapes=True, profile_memory=True) as prof:
            x, y, z = (torch.ones(4) for _ in range(3))
            y.sin()
            x.set_(z), y.set_(z)
            x.abs(), y.cos(), z.tan()
        ids.append([argument(prof, f"aten::{name}").id for name in ("sin", "cos", "abs", "tan")])
    theirs, ours = ids
    assert len(set(ours)) == 1
    assert theirs[0] != theirs[1], "the same tensor, before and after"


def test_sparse_tensors_have_their_layout_and_no_strides(torch):
    s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    with profile(record_shapes=True, profile_memory=True) as prof:
        s + s
    tensor = argument(prof, "aten::add")
    assert (tensor.layout, tensor.sizes, tensor.strides) == (torch.sparse_coo, [2, 3], [])


def test_lists_of_tensors_and_numbers_are_arguments_and_texts_are_not(torch):
    x, y = torch.ones(1), torch.ones(1)
    with profile(record_shapes=True, profile_memory=True) as prof:
        torch.stack((x, y))
        torch.add(x, y, alpha=0.5)
        torch.div(x, y, rounding_mode="floor")
    assert [t.impl_ptr for t in argument(prof, "aten::stack")] == [x._cdata, y._cdata]
    assert argument(prof, "aten::add", 2) == 0.5
    assert argument(prof, "aten::div", 2) is None


MEMORY = {"record_shapes": True, "profile_memory": True, "with_stack": True}


def test_modules_and_optimizers_tell_what_they_own(torch):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with profile(**MEMORY) as prof:
        for _ in range(2):
            model(torch.ones(1, 2)).backward()
            optimizer.step()
    modules = [node for node in all_nodes(tree_of(prof)) if node.name == "nn.Module: Linear_0"]
    assert len(modules) == 2
    for node in modules:
        owner = node.extra_fields.module
        assert (owner.self_ptr, owner.cls_name) == (id(model), "Linear")
        assert [name for name, _, _ in owner.parameters] == ["weight", "bias"]
        assert owner.parameters[0][1].storage_data_ptr == model.weight.data_ptr()
    steps = [node for node in all_nodes(tree_of(prof)) if node.name.endswith(": _optimizer_step_code")]
    assert len(steps) == 2
    for node in steps:
        owner = node.extra_fields.optimizer
        assert owner.self_ptr == id(optimizer)
        weight, gradient, state = owner.parameters[0]
        assert weight.id == modules[0].extra_fields.module.parameters[0][1].id
        assert gradient.storage_data_ptr == model.weight.grad.data_ptr()
        assert [name for name, _ in state] == ["momentum_buffer"]


def test_tensors_of_modules_and_optimizers_need_stacks_and_those_of_optimizers_memory_too_in_ours(torch):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    found = []
    for module in (torch.profiler.profile, profile):
        for with_memory in (False, True):
            with module(with_stack=True, profile_memory=with_memory) as prof:
                model(torch.ones(1, 2)).backward()
                optimizer.step()
            fields = [node.extra_fields for node in all_nodes(tree_of(prof))]
            found.append(tuple(any(getattr(each, owner, None) for each in fields) for owner in ("module", "optimizer")))
    assert found == [(True, True), (True, True), (True, False), (True, True)]


def test_owners_of_memory_are_not_among_the_events_that_were_asked_for(torch):
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with profile(**MEMORY, python_calls=False) as prof:
        model(torch.ones(1, 2)).backward()
        optimizer.step()
    names = {event.name for event in prof.events()} | {row.key for row in prof.key_averages()}
    assert not {name for name in names if "nn.Module" in name or "_optimizer_step_code" in name}
    from torch.optim.optimizer import _global_optimizer_post_hooks

    assert not _global_optimizer_post_hooks


def test_the_memory_profiler_of_torch_finds_the_purpose_of_memory(torch):
    from torch.profiler._memory_profiler import Category

    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.ones(4, 8)
    with profile(**MEMORY) as prof:
        model(x).sum().backward()
        optimizer.step()
        gc.collect()
    snapshot = prof._memory_profile()._category_snapshot().items()
    latest = {}  # of the memory that was at an address, what is there now
    for (key, _), _ in snapshot:
        latest[key.storage.ptr] = max(latest.get(key.storage.ptr, 0), key.storage.allocation_id)
    found = {}
    for (key, _), category in snapshot:
        if key.storage.allocation_id == latest[key.storage.ptr]:
            found.setdefault(key.storage.ptr, set()).add(category)
    assert all(found[p.data_ptr()] == {Category.PARAMETER} for p in model.parameters())
    assert all(found[p.grad.data_ptr()] == {Category.GRADIENT} for p in model.parameters())
    assert all(found[optimizer.state[p]["momentum_buffer"].data_ptr()] == {Category.OPTIMIZER_STATE} for p in model.parameters())
    assert found[x.data_ptr()] == {Category.INPUT}


def test_the_memory_profile_says_which_options_it_needs():
    with profile(record_shapes=True, with_stack=True) as prof:
        pass
    with pytest.raises(ValueError, match=r"^profile_memory=True required for memory profiling\.$"):
        prof._memory_profile()
