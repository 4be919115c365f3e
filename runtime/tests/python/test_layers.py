"""Layers of nn against PyTorch's: outputs, gradients of inputs and parameters, buffers."""

import inspect

import mindtorch_v2 as torch
import numpy as np
import pytest

reference = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

rng = np.random.default_rng(1)


def floats(*shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


LAYERS = {
    "Linear": (lambda n: n.Linear(4, 3), floats(5, 4)),
    "Linear_3d": (lambda n: n.Linear(4, 3, bias=False), floats(2, 5, 4)),
    "Conv1d": (lambda n: n.Conv1d(3, 4, 3, stride=2, padding=1), floats(2, 3, 9)),
    "Conv2d": (lambda n: n.Conv2d(4, 6, (3, 2), padding=(1, 0), groups=2), floats(2, 4, 6, 5)),
    "Conv2d_same": (lambda n: n.Conv2d(2, 3, 3, padding="same", dilation=2, bias=False), floats(2, 2, 6, 6)),
    "BatchNorm1d": (lambda n: n.BatchNorm1d(3), floats(6, 3)),
    "BatchNorm1d_3d": (lambda n: n.BatchNorm1d(3, momentum=None), floats(6, 3, 4)),
    "BatchNorm2d": (lambda n: n.BatchNorm2d(3, affine=False), floats(4, 3, 2, 2)),
    "BatchNorm2d_untracked": (lambda n: n.BatchNorm2d(3, track_running_stats=False), floats(4, 3, 2, 2)),
    "LayerNorm": (lambda n: n.LayerNorm((3, 4)), floats(5, 3, 4)),
    "GroupNorm": (lambda n: n.GroupNorm(2, 4), floats(2, 4, 3)),
    "RMSNorm": (lambda n: n.RMSNorm(4), floats(3, 4)),
    "MaxPool2d": (lambda n: n.MaxPool2d(2, stride=1, padding=1), floats(2, 3, 5, 5)),
    "AvgPool2d": (lambda n: n.AvgPool2d(2, ceil_mode=True), floats(2, 3, 5, 5)),
    "AdaptiveAvgPool2d": (lambda n: n.AdaptiveAvgPool2d((None, 2)), floats(2, 3, 5, 5)),
    "Flatten": (lambda n: n.Flatten(), floats(2, 3, 4)),
    "Unflatten": (lambda n: n.Unflatten(1, (2, 3)), floats(2, 6)),
    "ReLU": (lambda n: n.ReLU(), floats(3, 4)),
    "ReLU6": (lambda n: n.ReLU6(), 8 * floats(3, 4)),
    "GELU": (lambda n: n.GELU("tanh"), floats(3, 4)),
    "SiLU": (lambda n: n.SiLU(), floats(3, 4)),
    "LeakyReLU": (lambda n: n.LeakyReLU(0.3), floats(3, 4)),
    "ELU": (lambda n: n.ELU(0.5), floats(3, 4)),
    "Hardtanh": (lambda n: n.Hardtanh(-0.5, 0.2), floats(3, 4)),
    "Softplus": (lambda n: n.Softplus(2.0), floats(3, 4)),
    "Tanh": (lambda n: n.Tanh(), floats(3, 4)),
    "Sigmoid": (lambda n: n.Sigmoid(), floats(3, 4)),
    "LogSigmoid": (lambda n: n.LogSigmoid(), floats(3, 4)),
    "Softmax": (lambda n: n.Softmax(dim=1), floats(3, 4)),
    "LogSoftmax": (lambda n: n.LogSoftmax(dim=-1), floats(3, 4)),
    "Identity": (lambda n: n.Identity(), floats(3, 4)),
    "Sequential": (lambda n: n.Sequential(n.Linear(4, 8), n.Tanh(), n.LayerNorm(8), n.Linear(8, 2)), floats(3, 4)),
    "TransformerEncoderLayer": (lambda n: n.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), floats(2, 5, 8)),
    "TransformerEncoderLayer_first": (
        lambda n: n.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", norm_first=True),
        floats(5, 2, 8),
    ),
}


def twins(make):
    """A layer of ours and one of torch's with the same parameters."""
    theirs = make(reference.nn)
    mine = make(torch.nn)
    mine.load_state_dict({name: torch.tensor(value.numpy()) for name, value in theirs.state_dict().items()})
    return mine, theirs


def close(mine, theirs, tolerance=1e-5):
    np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_layer_computes_what_torchs_does(name, training):
    make, array = LAYERS[name]
    mine, theirs = twins(make)
    mine.train(training), theirs.train(training)
    x, y = torch.tensor(array, requires_grad=True), reference.tensor(array, requires_grad=True)
    for _ in range(2):  # running statistics of the first call are used by the second
        a, b = mine(x), theirs(y)
    close(a, b)
    (a * a).sum().backward()
    (b * b).sum().backward()
    close(x.grad, y.grad, 1e-4)
    gradients = dict(theirs.named_parameters())
    for parameter_name, parameter in mine.named_parameters():
        close(parameter.grad, gradients[parameter_name].grad, 1e-4)
    for (mine_name, buffer), (their_name, their_buffer) in zip(mine.named_buffers(), theirs.named_buffers(), strict=True):
        assert mine_name == their_name
        close(buffer, their_buffer)


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_is_torchs(batch_first, need_weights):
    mine, theirs = twins(lambda n: n.MultiheadAttention(8, 2, batch_first=batch_first))
    query, key = floats(3, 5, 8), floats(3, 5, 8)
    mask = np.triu(np.ones((5, 5), dtype=bool), 1) if batch_first else np.triu(np.ones((3, 3), dtype=bool), 1)
    padding = np.zeros((3, 5), dtype=bool) if batch_first else np.zeros((5, 3), dtype=bool)
    padding[0, -1] = True
    for q, k in ((query, query), (query, key)):
        a, u = mine(*(torch.tensor(v) for v in (q, k, k)), torch.tensor(padding), need_weights, torch.tensor(mask))
        b, w = theirs(*(reference.tensor(v) for v in (q, k, k)), reference.tensor(padding), need_weights, reference.tensor(mask))
        close(a, b)
        assert (u is None) == (w is None)
        if u is not None:
            close(u, w)


@pytest.mark.parametrize("name", ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "BCEWithLogitsLoss"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_are_torchs(name, reduction):
    x, y = floats(4, 3), (floats(4, 3) > 0).astype(np.float32)
    a = getattr(torch.nn, name)(reduction=reduction)(torch.tensor(x), torch.tensor(y))
    b = getattr(reference.nn, name)(reduction=reduction)(reference.tensor(x), reference.tensor(y))
    close(a, b)


def test_classification_losses_are_torchs():
    x, target, weight = floats(6, 4), np.array([0, 3, 1, 1, 2, 0]), np.abs(floats(4))
    for make in (
        lambda t: t.nn.CrossEntropyLoss(weight=t.tensor(weight), ignore_index=1, label_smoothing=0.2),
        lambda t: t.nn.NLLLoss(weight=t.tensor(weight), reduction="sum"),
        lambda t: t.nn.CrossEntropyLoss(reduction="none"),
    ):
        close(make(torch)(torch.tensor(x), torch.tensor(target)), make(reference)(reference.tensor(x), reference.tensor(target)))
    probabilities = np.abs(floats(6, 4))
    close(
        torch.nn.CrossEntropyLoss()(torch.tensor(x), torch.tensor(probabilities)),
        reference.nn.CrossEntropyLoss()(reference.tensor(x), reference.tensor(probabilities)),
    )
    with pytest.raises(ValueError, match="is not a valid value for reduction"):
        torch.nn.functional.mse_loss(torch.ones(1), torch.ones(1), reduction="average")


def test_embedding_leaves_its_padding_alone():
    mine, theirs = twins(lambda n: n.Embedding(5, 3, padding_idx=-2))
    assert mine.padding_idx == 3
    index = np.array([[0, 3, 4], [3, 1, 1]])
    a, b = mine(torch.tensor(index)), theirs(reference.tensor(index))
    close(a, b)
    a.sum().backward(), b.sum().backward()
    close(mine.weight.grad, theirs.weight.grad)
    assert torch.nn.Embedding(5, 3, padding_idx=0).weight[0].abs().sum().item() == 0.0
    table = torch.tensor(floats(4, 2))
    frozen = torch.nn.Embedding.from_pretrained(table)
    assert not frozen.weight.requires_grad and torch.equal(frozen(torch.tensor([2])), table[2:3])


def test_dropout_keeps_the_mean_and_is_off_in_evaluation():
    torch.manual_seed(0)
    drop = torch.nn.Dropout(0.25)
    x = torch.ones(100, 100)
    y = drop(x)
    kept = (y != 0).float().mean().item()
    assert abs(kept - 0.75) < 0.02 and abs(y.mean().item() - 1) < 0.03 and y.max().item() == pytest.approx(1 / 0.75)
    assert torch.equal(drop.eval()(x), x)
    with pytest.raises(ValueError, match="between 0 and 1"):
        torch.nn.Dropout(1.5)


def test_wrong_inputs_are_refused_in_torchs_words():
    with pytest.raises(ValueError, match="expected 4D input \\(got 2D input\\)"):
        torch.nn.BatchNorm2d(3)(torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"Expected more than 1 value per channel when training, got input size torch.Size\(\[1, 3\]\)"):
        torch.nn.functional.batch_norm(torch.ones(1, 3), None, None, training=True)
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        torch.nn.Conv2d(3, 4, 3, groups=2)
    with pytest.raises(ValueError, match="num_channels \\(5\\) must be divisible by num_groups \\(2\\)"):
        torch.nn.GroupNorm(2, 5)


@pytest.mark.parametrize("name", sorted(set(torch.nn.__all__) - {"Module", "Parameter", "Buffer", "functional", "init", "utils"}))
def test_layers_take_torchs_arguments_in_torchs_order(name):
    def arguments(module):
        parameters = inspect.signature(getattr(module, name).__init__).parameters
        return [p for p in parameters if p not in ("size_average", "reduce")]

    mine, theirs = arguments(torch.nn), arguments(reference.nn)
    assert mine == theirs[: len(mine)]


@pytest.mark.parametrize(
    "name", ["uniform_", "normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "trunc_normal_"]
)
def test_initial_values_have_torchs_spread(name):
    torch.manual_seed(0), reference.manual_seed(0)
    a, b = torch.empty(200, 300), reference.empty(200, 300)
    assert getattr(torch.nn.init, name)(a) is a
    getattr(reference.nn.init, name)(b)
    assert a.std().item() == pytest.approx(b.std().item(), rel=0.02)
    assert abs(a.mean().item() - b.mean().item()) < 0.02 * max(1.0, b.std().item())
    assert a.max().item() == pytest.approx(b.max().item(), rel=0.25)


def test_fixed_initial_values():
    assert torch.nn.init.zeros_(torch.ones(2)).tolist() == [0.0, 0.0]
    assert torch.nn.init.constant_(torch.empty(2), 3).tolist() == [3.0, 3.0]
    assert torch.nn.init.eye_(torch.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    for kind in ("relu", "tanh", "sigmoid", "linear", "selu"):
        assert torch.nn.init.calculate_gain(kind) == reference.nn.init.calculate_gain(kind)
    assert torch.nn.init.calculate_gain("leaky_relu", 0.2) == reference.nn.init.calculate_gain("leaky_relu", 0.2)


def test_gradients_are_clipped_as_torchs():
    def run(t):
        values = [t.tensor([3.0, 4.0], requires_grad=True), t.tensor([[1.0], [2.0]], requires_grad=True)]
        sum((v * v).sum() for v in values).backward()
        total = t.nn.utils.clip_grad_norm_(values, 2.0)
        clipped = [v.grad.tolist() for v in values]
        t.nn.utils.clip_grad_value_(values, 0.5)
        return total.item(), clipped, [v.grad.tolist() for v in values]

    np.testing.assert_allclose(run(torch)[0], run(reference)[0], rtol=1e-6)
    for mine, theirs in zip(run(torch)[1], run(reference)[1], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    vector = torch.nn.utils.parameters_to_vector([torch.ones(2), torch.zeros(1, 2)])
    assert vector.tolist() == [1.0, 1.0, 0.0, 0.0]
