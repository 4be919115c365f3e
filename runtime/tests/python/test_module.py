"""nn.Module: attributes, trees, hooks, state."""

import copy
import pickle

import mindtorch_v2 as torch
import pytest
from mindtorch_v2 import nn


class Net(nn.Module):
    def __init__(self, bias=True):
        super().__init__()
        self.first = nn.Linear(4, 3, bias=bias)
        self.norm = nn.BatchNorm1d(3)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(3, 2))
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("offset", torch.zeros(2))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)

    def forward(self, x):
        return self.second(self.norm(self.first(x))) * self.scale + self.offset


def test_assignment_registers_parameters_buffers_and_children():
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert names == ["scale", "first.weight", "first.bias", "norm.weight", "norm.bias", "second.1.weight", "second.1.bias"]
    assert [n for n, _ in net.named_buffers()] == [
        "offset",
        "scratch",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
    ]
    assert [n for n, _ in net.named_children()] == ["first", "norm", "second"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "norm", "second", "second.0", "second.1"]
    assert net.first.weight is dict(net.named_parameters())["first.weight"]
    net.scale = nn.Parameter(torch.zeros(1))
    assert net.scale.item() == 0.0 and len(list(net.parameters())) == 7
    with pytest.raises(TypeError, match="cannot assign 'Tensor' as parameter 'scale'"):
        net.scale = torch.ones(1)
    net.first.bias = None
    assert "first.bias" not in dict(net.named_parameters()) and "first.bias" not in net.state_dict()
    del net.norm
    assert not hasattr(net, "norm")
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'norm'"):
        _ = net.norm
    assert net.get_submodule("second.1") is net.second[1] and net.get_parameter("second.1.weight") is net.second[1].weight


def test_linear_without_bias_works():
    layer = nn.Linear(3, 2, bias=False)
    assert layer.bias is None and layer(torch.ones(1, 3)).shape == (1, 2)


def test_shared_parameters_count_once():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    b.weight = a.weight
    both = nn.Sequential(a, b)
    assert len(list(both.parameters())) == 3 and set(both.state_dict()) == {"0.weight", "0.bias", "1.weight", "1.bias"}


def test_calls_before_init_are_refused():
    class Early(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match="cannot assign module before Module.__init__"):
        Early()
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()(1)


def test_training_mode_reaches_all_modules():
    net = Net()
    assert net.eval() is net and not net.second[0].training and not net.norm.training
    net.train()
    assert net.second[1].training
    with pytest.raises(ValueError, match="boolean"):
        net.train(1)


def test_gradients_are_reset():
    net = Net()
    net(torch.randn(5, 4)).sum().backward()
    assert net.first.weight.grad is not None
    net.zero_grad(set_to_none=False)
    assert net.first.weight.grad.abs().sum().item() == 0.0
    net.zero_grad()
    assert net.first.weight.grad is None
    net.requires_grad_(False)
    assert not net(torch.randn(5, 4)).requires_grad


def test_modules_change_type_in_place():
    net = Net()
    weight = net.first.weight
    net(torch.randn(5, 4)).sum().backward()
    assert net.double() is net and net.first.weight is weight and weight.dtype is torch.float64 and weight.grad.dtype is torch.float64
    assert net.norm.num_batches_tracked.dtype is torch.int64 and net.offset.dtype is torch.float64
    assert net(torch.randn(5, 4, dtype=torch.float64)).dtype is torch.float64
    net.to("cpu", torch.float32)
    assert weight.dtype is torch.float32 and isinstance(weight, nn.Parameter)
    with pytest.raises(TypeError, match="floating point"):
        net.to(torch.int64)


def test_state_dicts_carry_values_from_one_module_to_another():
    a, b = Net(), Net()
    state = a.state_dict()
    assert list(state)[:3] == ["scale", "offset", "first.weight"] and "scratch" not in state
    assert state["first.weight"].data_ptr() == a.first.weight.data_ptr() and not state["first.weight"].requires_grad
    result = b.load_state_dict(state)
    assert result.missing_keys == [] and result.unexpected_keys == [] and repr(result) == "<All keys matched successfully>"
    a.eval(), b.eval()
    x = torch.randn(5, 4)
    assert torch.equal(a(x), b(x))


def test_state_dicts_that_do_not_fit_are_refused_and_change_nothing():
    net = Net()
    before = net.first.weight.clone()
    wrong = {"first.weight": torch.zeros(2, 2), "other": torch.zeros(1)}
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(wrong)
    text = str(error.value)
    assert 'Unexpected key(s) in state_dict: "other".' in text and 'Missing key(s) in state_dict: "scale"' in text
    assert "size mismatch for first.weight: copying a param with shape torch.Size([2, 2])" in text
    assert torch.equal(before, net.first.weight)
    result = net.load_state_dict({"scale": torch.tensor([5.0]), "other": torch.zeros(1)}, strict=False)
    assert net.scale.item() == 5.0 and result.unexpected_keys == ["other"] and "offset" in result.missing_keys


def test_forward_hooks_see_and_replace():
    layer = nn.Linear(2, 2)
    seen = []
    pre = layer.register_forward_pre_hook(lambda m, args: (args[0] * 0,))
    post = layer.register_forward_hook(lambda m, args, out: seen.append((m is layer, args[0].sum().item())))
    out = layer(torch.ones(1, 2))
    assert torch.equal(out, layer.bias.reshape(1, 2)) and seen == [(True, 0.0)]
    pre.remove()
    post.remove()
    layer.register_forward_hook(lambda m, args, kwargs, out: out * 2, with_kwargs=True)
    x = torch.ones(1, 2)
    assert torch.allclose(layer(x), 2 * nn.functional.linear(x, layer.weight, layer.bias))


@pytest.mark.torch
def test_full_backward_hooks_are_called_with_torchs_gradients():
    import torch as reference

    def run(t):
        layer = t.nn.Linear(3, 2)
        with t.no_grad():
            layer.weight.copy_(t.arange(6.0).reshape(2, 3))
            layer.bias.fill_(0.5)
        seen = []

        def hook(module, grad_input, grad_output):
            seen.append(([g.tolist() for g in grad_input], [g.tolist() for g in grad_output]))
            return (grad_input[0] * 10,)

        layer.register_full_backward_hook(hook)
        layer.register_full_backward_pre_hook(lambda m, g: (g[0] * 2,))
        x = t.ones(4, 3, requires_grad=True)
        layer(x).sum().backward()
        return seen, x.grad.tolist(), layer.weight.grad.tolist()

    assert run(torch) == run(reference)


def test_apply_visits_children_first():
    seen = []
    net = Net()
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "BatchNorm1d", "ReLU", "Linear", "Sequential", "Net"]


def test_modules_can_be_copied_and_pickled():
    net = Net().eval()
    x = torch.randn(3, 4)
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert torch.equal(net(x), other(x)) and other.first.weight is not net.first.weight
        assert isinstance(other.first.weight, nn.Parameter) and other.first.weight.requires_grad
        with torch.no_grad():
            other.first.weight.zero_()
        assert net.first.weight.abs().sum().item() > 0


@pytest.mark.torch
def test_modules_print_as_torchs():
    import torch as reference

    def text(t):
        n = t.nn
        return [
            repr(m)
            for m in (
                n.Sequential(n.Linear(2, 3), n.ReLU(), n.Sequential(n.Dropout(0.2), n.Linear(3, 1, bias=False))),
                n.ModuleList([n.Conv2d(3, 4, 3, padding=1), n.Conv1d(2, 4, 5, stride=2, groups=2, bias=False)]),
                n.ModuleDict({"a": n.BatchNorm2d(4), "b": n.LayerNorm((4, 5)), "c": n.GroupNorm(2, 4), "d": n.RMSNorm(4)}),
                n.Embedding(5, 3, padding_idx=1),
                n.MaxPool2d(2),
                n.AvgPool2d(3, stride=2),
                n.AdaptiveAvgPool2d((2, 2)),
                n.Flatten(),
                n.GELU(),
                n.SiLU(inplace=True),
                n.LeakyReLU(0.2),
                n.ELU(),
                n.Softmax(dim=1),
                n.Softplus(),
                n.Identity(),
                n.CrossEntropyLoss(),
                n.MSELoss(),
                n.Hardtanh(),
                n.Unflatten(1, (2, 3)),
            )
        ]

    for mine, theirs in zip(text(torch), text(reference), strict=True):
        assert mine == theirs


def test_containers_behave_as_lists_and_dictionaries():
    layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    layers.append(nn.ReLU())
    layers.insert(0, nn.Tanh())
    assert len(layers) == 5 and isinstance(layers[0], nn.Tanh) and isinstance(layers[-1], nn.ReLU) and len(layers[1:3]) == 2
    assert [n for n, _ in layers.named_children()] == ["0", "1", "2", "3", "4"]
    with pytest.raises(IndexError):
        layers[9]
    table = nn.ModuleDict({"a": nn.ReLU()})
    table["b"] = nn.Linear(1, 1)
    assert list(table) == ["a", "b"] and "a" in table and isinstance(table.pop("a"), nn.ReLU) and len(table) == 1
    stack = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    stack.append(nn.Linear(2, 1))
    assert len(stack) == 3 and stack(torch.ones(1, 2)).shape == (1, 1) and len(stack[:2]) == 2
    parameters = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(1))])
    assert len(list(parameters.parameters())) == 2 and parameters[0].requires_grad


def test_module_calls_can_be_watched():
    from mindtorch_v2.nn import module

    seen = []

    class Watch:
        def __init__(self, module):
            self.kind = type(module).__name__

        def __enter__(self):
            seen.append(("enter", self.kind))

        def __exit__(self, *exception):
            seen.append(("exit", self.kind))

    net = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    module._module_call_hook = Watch
    try:
        net(torch.ones(1, 1))
        net(torch.ones(1, 1))
    finally:
        module._module_call_hook = None
    once = [("enter", "Sequential"), ("enter", "Linear"), ("exit", "Linear"), ("enter", "ReLU"), ("exit", "ReLU"), ("exit", "Sequential")]
    assert seen == once * 2
