"""Every op through Python: values, gradients and types as PyTorch's, called as function, as method and by keyword."""

import mindtorch_v2 as torch
import numpy as np
import pytest
from mindtorch_v2 import _runtime

reference = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

rng = np.random.default_rng(0)


def floats(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float64)


def integers(*shape, high=3):
    return rng.integers(0, high, shape)


X, Y, ROW, POSITIVE = floats(3, 4), floats(3, 4), floats(4), floats(3, 4, low=0.2)
MASK = floats(3, 4) > 0
IMAGE, KERNEL = floats(2, 3, 6, 6), floats(4, 3, 3, 3)
SEQUENCE = floats(2, 2, 5, 4)

# name: (function of a torch-like module and tensors, arrays). Floating point arrays require gradients.
CASES = {
    "add": (lambda t, x, y: t.add(x, y, alpha=2), X, ROW),
    "add_scalar": (lambda t, x: t.add(x, 3), X),
    "sub": (lambda t, x, y: x.sub(y), X, ROW),
    "rsub": (lambda t, x: 1.5 - x, X),
    "mul": (lambda t, x, y: x * y, X, ROW),
    "div": (lambda t, x, y: t.div(x, y), X, POSITIVE),
    "rdiv": (lambda t, x: 2 / x, POSITIVE),
    "floor_div": (lambda t, x: (x.detach() * 3) // 2, X),
    "mod": (lambda t, x: (x.detach() * 3) % 2, X),
    "pow": (lambda t, x: x**2.5, POSITIVE),
    "pow_tensor": (lambda t, x, y: x**y, POSITIVE, Y),
    "rpow": (lambda t, x: 2**x, X),
    "neg": (lambda t, x: -x, X),
    "abs": (lambda t, x: abs(x), X),
    "unary": (lambda t, x: x.exp() + x.sin() * x.cos() + x.tanh().sigmoid() + x.erf() + x.expm1() + x.square(), X),
    "logs": (lambda t, x: x.log() + x.log1p() + x.log2() + x.sqrt() + x.rsqrt() + x.reciprocal(), POSITIVE),
    "rounding": (lambda t, x: x.floor() + x.ceil() + x.round() + x.trunc() + x.sign(), X),
    "activations": (
        lambda t, x: x.relu() + t.nn.functional.gelu(x) + t.nn.functional.gelu(x, approximate="tanh") + t.nn.functional.silu(x),
        X,
    ),
    "more_activations": (
        lambda t, x: t.nn.functional.leaky_relu(x, 0.2)
        + t.nn.functional.elu(x, 0.7)
        + t.nn.functional.softplus(x, 2.0)
        + t.nn.functional.logsigmoid(x)
        + t.nn.functional.hardtanh(x)
        + t.nn.functional.relu6(x * 5)
        + t.nn.functional.glu(x, 1).sum(),
        X,
    ),
    "clamp": (lambda t, x: x.clamp(-1, 1) + x.clamp(min=0.1) + t.clip(x, max=0.3) + x.clamp_min(0) + x.clamp_max(1), X),
    "max_of_two": (lambda t, x, y: t.max(x, y) + t.minimum(x, y), X, Y),
    "where": (lambda t, x, y, m: t.where(m, x, y) + t.where(m, x, 0.5), X, Y, MASK),
    "masked_fill": (lambda t, x, m: x.masked_fill(m, 7.0), X, MASK),
    "lerp": (lambda t, x, y: t.lerp(x, y, 0.3), X, Y),
    "addcmul": (lambda t, x, y, z: t.addcmul(x, y, z, value=0.5) + t.addcdiv(x, y, z), X, Y, POSITIVE),
    "sum": (lambda t, x: x.sum() + x.sum(0).sum() + x.sum((0, 1)) + x.sum(dim=1, keepdim=True).sum() + x.sum(-1, True).sum(), X),
    "mean": (lambda t, x: t.mean(x, 1) * t.mean(x), X),
    "sum_axis": (lambda t, x: x.sum(axis=1, keepdims=True), X),
    "prod": (lambda t, x: x.prod() + x.prod(1).sum(), X),
    "var": (lambda t, x: x.var() + x.var(0).sum() + x.var(1, unbiased=False).sum() + x.std(dim=1, keepdim=True).sum() + x.var(False), X),
    "norm": (lambda t, x: x.norm() + x.norm(1) + x.norm(p=3, dim=1).sum() + x.norm(dim=0, keepdim=True).sum(), X),
    "max": (lambda t, x: x.max() + x.max(1).values.sum() + x.max(dim=0, keepdim=True)[0].sum() + x.amax(1).sum(), X),
    "min": (lambda t, x: x.min() + t.min(x, 1)[0].sum() + x.amin((0, 1)), X),
    "argmax": (lambda t, x: x.argmax() + x.argmax(1) + x.argmin(dim=1), X),
    "topk": (lambda t, x: x.topk(2)[0] + t.topk(x, 2, largest=False).values, X),
    "sort": (lambda t, x: x.sort(1)[0], X),
    "cumsum": (lambda t, x: x.cumsum(1) + x.cumsum(dim=0), X),
    "logsumexp": (lambda t, x: t.logsumexp(x, 1), X),
    "any_all": (lambda t, m: m.any() | m.all() | m.any(0) & m.all(dim=0), MASK),
    "matmul": (lambda t, x, y: x @ y.t() + t.mm(x, y.T), X, Y),
    "matvec": (lambda t, x, y: (x @ y) + t.mv(x, y), X, ROW),
    "dot": (lambda t, x: t.dot(x, x) + t.outer(x, x).sum(), ROW),
    "bmm": (lambda t, x: t.bmm(x[0], x[1].transpose(1, 2)) + t.matmul(x, x.mT)[0], SEQUENCE),
    "addmm": (lambda t, x, y, z: t.addmm(z, x, y.t(), beta=0.5, alpha=2), X, Y, floats(3)),
    "shapes": (lambda t, x: x.reshape(2, 6).view(-1, 3).permute(1, 0).unsqueeze(0).squeeze(0).transpose(0, 1).flatten(), X),
    "reshape_of_transposed": (lambda t, x: x.transpose(0, 1).reshape(12), X),
    "expand_repeat": (lambda t, x: x.expand(3, 4) * x.repeat(3, 1), ROW),
    "cat": (lambda t, x, y: t.cat([x, y], 1) * t.cat((y, x), dim=1), X, Y),
    "stack": (lambda t, x, y: t.stack([x, y], dim=1), X, Y),
    "split": (lambda t, x: x.split(2, 1)[1] * x.split([1, 3], dim=1)[0] + x.chunk(2, 1)[0], X),
    "unbind": (lambda t, x: x.unbind(1)[2] * t.unbind(x)[0].sum(), X),
    "narrow": (lambda t, x: x.narrow(1, 1, 2) * x.select(0, 1).narrow(0, 0, 2), X),
    "gather": (lambda t, x, i: x.gather(1, i), X, integers(3, 2)),
    "index_select": (lambda t, x, i: x.index_select(1, i), X, np.array([2, 0, 2])),
    "scatter": (lambda t, x, y, i: x.scatter(1, i, y) + x.scatter_add(1, i, y), X, Y[:, :2].copy(), np.array([[0, 2], [1, 3], [3, 0]])),
    "index_add": (lambda t, x, y, i: x.index_add(0, i, y, alpha=2), X, Y, np.array([0, 0, 2])),
    "tril": (lambda t, x: x.tril() + x.triu(diagonal=1), X),
    "softmax": (lambda t, x: t.softmax(x, 1) * t.nn.functional.log_softmax(x, dim=0), X),
    "embedding": (lambda t, w, i: t.nn.functional.embedding(i, w), floats(5, 3), integers(2, 3, high=5)),
    "layer_norm": (lambda t, x, w, b: t.nn.functional.layer_norm(x, (4,), w, b), X, ROW, floats(4)),
    "rms_norm": (lambda t, x, w: t.nn.functional.rms_norm(x, (4,), w), X, ROW),
    "group_norm": (lambda t, x, w: t.nn.functional.group_norm(x, 2, w, w), floats(2, 4, 3), floats(4)),
    "batch_norm": (lambda t, x, w: t.nn.functional.batch_norm(x, None, None, w, w, True), floats(5, 4), floats(4)),
    "linear": (lambda t, x, w, b: t.nn.functional.linear(x, w, b), X, floats(5, 4), floats(5)),
    "conv2d": (lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, stride=2, padding=1), IMAGE, KERNEL, floats(4)),
    "conv2d_groups": (lambda t, x, w: t.nn.functional.conv2d(x, w, groups=3), IMAGE, floats(6, 1, 3, 3)),
    "conv1d": (lambda t, x, w: t.nn.functional.conv1d(x, w, padding=1, dilation=2), floats(2, 3, 9), floats(4, 3, 3)),
    "max_pool2d": (lambda t, x: t.nn.functional.max_pool2d(x, 2), IMAGE),
    "avg_pool2d": (lambda t, x: t.nn.functional.avg_pool2d(x, 3, stride=2, padding=1), IMAGE),
    "adaptive_avg_pool2d": (lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, (2, 3)), IMAGE),
    "unfold": (lambda t, x: t.nn.functional.unfold(x, 3, padding=1, stride=2), IMAGE),
    "pad": (lambda t, x: t.nn.functional.pad(x, (1, 2, 0, 1), value=3.0) * 2, X),
    "attention": (lambda t, x: t.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True), SEQUENCE),
    "mse": (lambda t, x, y: t.nn.functional.mse_loss(x, y) + t.nn.functional.mse_loss(x, y, reduction="sum"), X, Y),
    "l1": (lambda t, x, y: t.nn.functional.l1_loss(x, y) + t.nn.functional.smooth_l1_loss(x, y, beta=0.5), X, Y),
    "huber": (lambda t, x, y: t.nn.functional.huber_loss(x, y, delta=0.7), X, Y),
    "cross_entropy": (lambda t, x, i: t.nn.functional.cross_entropy(x, i, label_smoothing=0.1), X, integers(3, high=4)),
    "cross_entropy_none": (lambda t, x, i: t.nn.functional.cross_entropy(x, i, reduction="none", ignore_index=1), X, integers(3, high=4)),
    "nll": (lambda t, x, i: t.nn.functional.nll_loss(x.log_softmax(1), i), X, integers(3, high=4)),
    "bce": (lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, y.sigmoid().detach()), X, Y),
    "bce_probabilities": (lambda t, x, y: t.nn.functional.binary_cross_entropy(x.sigmoid(), y.sigmoid().detach()), X, Y),
    "kl": (lambda t, x, y: t.nn.functional.kl_div(x.log_softmax(1), y.softmax(1).detach(), reduction="batchmean"), X, Y),
    "normalize": (lambda t, x, y: t.nn.functional.normalize(x) + t.nn.functional.cosine_similarity(x, y).sum(), X, Y),
    "one_hot": (lambda t, i: t.nn.functional.one_hot(i, 5), integers(4)),
    "meshgrid": (lambda t, x, y: t.meshgrid(x, y, indexing="ij")[0] * t.meshgrid(x, y, indexing="xy")[1].T, ROW, floats(3)),
    "movedim": (lambda t, x: x.movedim(1, 3).unflatten(0, (1, 2)), SEQUENCE),
    "comparisons": (lambda t, x, y: ((x < y) | (x >= 1)) & (x != y) & ~(x == 0) ^ (x <= y), X, Y),
    "in_place": (lambda t, x, y: x.clone().add_(y).mul_(2).sub_(y, alpha=0.5).div_(3).clamp_(max=2).neg_().exp_(), X, Y),
    "in_place_operators": (lambda t, x, y: _in_place_operators(x.clone(), y), X, Y),
    "view_written_to": (lambda t, x, y: _written_view(x.clone(), y), X, ROW),
    "im_place_on_slices": (lambda t, x: _sliced(x.clone()), X),
    "detach": (lambda t, x: x * x.detach(), X),
    "to": (lambda t, x: x.to(t.float32).double() * 2, X),
}


def _in_place_operators(x, y):
    x += y
    x *= 2
    x -= y
    x /= 3
    return x


def _written_view(x, y):
    x[1].mul_(y)
    return x * x


def _sliced(x):
    x[:, 1:3] = x[:, :2] * 2
    x[0] = 5.0
    return x.exp()


def _run(module, function, arrays):
    tensors = [module.tensor(a, requires_grad=a.dtype == np.float64) for a in arrays]
    result = function(module, *tensors)
    gradients = []
    if result.requires_grad:
        weights = module.tensor(np.cos(np.arange(result.numel())).reshape(tuple(result.shape)), dtype=result.dtype)
        (result * weights).sum().backward()
        gradients = [None if t.grad is None else t.grad.tolist() for t in tensors]
    return result, gradients


@pytest.mark.parametrize("name", CASES)
def test_op_gives_torchs_values_types_and_gradients(name):
    function, *arrays = CASES[name]
    ours, our_gradients = _run(torch, function, arrays)
    theirs, their_gradients = _run(reference, function, arrays)
    assert tuple(ours.shape) == tuple(theirs.shape) and repr(ours.dtype) == repr(theirs.dtype)
    tolerance = {"rtol": 1e-6, "atol": 1e-8} if ours.dtype is not torch.float32 else {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), **tolerance)
    assert len(our_gradients) == len(their_gradients)
    for mine, theirs_ in zip(our_gradients, their_gradients, strict=True):
        assert (mine is None) == (theirs_ is None)
        if mine is not None:
            np.testing.assert_allclose(mine, theirs_, rtol=1e-6, atol=1e-7)


def test_every_op_of_the_dispatcher_is_a_function_and_those_of_a_tensor_are_methods():
    assert len(_runtime.ops) > 150
    for name, op in _runtime.ops.items():
        assert callable(getattr(torch, name)) and op.__name__ == name and name in op.__doc__
    assert {"add", "mul_", "softmax", "matmul", "scatter_add_"} <= set(dir(torch.Tensor))


@pytest.mark.parametrize("a", ["bool", "uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("b", ["bool", "uint8", "int32", "int64", "float32", "float64", "number", "real"])
def test_types_are_promoted_as_in_torch(a, b):
    def result(t):
        x = t.ones(2, dtype=getattr(t, a))
        y = {"number": 2, "real": 2.5}.get(b)
        y = t.ones(2, dtype=getattr(t, b)) if y is None else y
        return repr((x + y).dtype), repr((x * y).dtype), repr((x / y).dtype), repr((x < y).dtype)

    assert result(torch) == result(reference)


@pytest.mark.parametrize("kind", ["uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("divisor", [3, 2.5, [3, 1, 2, 7]])
def test_quotients_and_remainders_are_rounded_as_in_torch(kind, divisor):
    def results(t):
        x = t.tensor([7, 9, 0, 200]).to(getattr(t, kind))
        y = t.tensor(divisor) if isinstance(divisor, list) else divisor
        found = [x // y, x % y]
        if kind not in ("uint8",):
            found += [-x // y, -x % y]
        return [(f.tolist(), repr(f.dtype)) for f in found]

    assert results(torch) == results(reference)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.tensor([1]) // 0


def test_results_with_names_are_tuples_with_names():
    result = torch.tensor([[1.0, 3.0], [4.0, 2.0]]).max(1)
    values, indices = result
    assert result.values is values and result.indices.tolist() == [1, 0] and "values=" in repr(result)


def test_keywords_are_compared_by_their_characters():
    x = torch.ones(2, 3)
    assert x.sum(**{"".join(["ax", "is"]): 1}).shape == (2,) and torch.sum(self=x, dim=0).shape == (3,) and torch.sum(input=x).item() == 6
    assert torch.zeros(shape=(2,)).shape == (2,)


def test_arguments_may_be_numpys():
    x = torch.ones(2, 3)
    assert (x * np.float32(2.0)).sum().item() == 12.0 and x.sum(np.int64(1)).shape == (2,)
    assert torch.zeros(np.int64(2), 3).shape == (2, 3) and torch.add(x, np.int64(1)).dtype is torch.float32
    assert torch.tensor(np.float64(1.5)).dtype is torch.float64 and torch.tensor([np.ones(2), np.zeros(2)]).shape == (2, 2)
    assert torch.tensor([torch.tensor(1.0), torch.tensor(2.0)]).tolist() == [1.0, 2.0]
    assert torch.tensor(np.float32(1.5)).item() == 1.5 and torch.tensor([np.int64(1), np.int64(2)]).dtype is torch.int64
