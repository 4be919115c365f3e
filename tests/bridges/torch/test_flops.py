"""FLOPs are counted once: rows add up to what torch.utils.flop_counter counts, and common rows are torch's."""

import pytest
from mindtorch_v2.profiler import profile

# torch's counter counts products alone; torch's profiler and ours count these by element.
POINTWISE = {"aten::add", "aten::mul"}


def convolutions(torch):
    nn = torch.nn
    layers = [nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2, bias=False), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)), torch.randn(2, 3, 16, 16)


def attention(torch):
    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inputs, self.output = torch.nn.Linear(32, 96), torch.nn.Linear(32, 32)

        def forward(self, x):
            query, key, value = (part.unflatten(-1, (4, 8)).transpose(1, 2) for part in self.inputs(x).chunk(3, -1))
            scores = (query @ key.transpose(-1, -2)).softmax(-1)
            return self.output((scores @ value).transpose(1, 2).flatten(-2))

    return Attention(), torch.randn(2, 17, 32)


def language(torch):
    model, _ = attention(torch)
    return torch.nn.Sequential(torch.nn.Embedding(50, 32), model, torch.nn.Linear(32, 50, bias=False)), torch.randint(0, 50, (2, 12))


@pytest.mark.parametrize("make", [convolutions, attention, language])
def test_rows_add_up_to_what_torchs_counter_counts(torch, make):
    from torch.utils.flop_counter import FlopCounterMode

    model, x = make(torch)
    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    with profile(with_flops=True) as prof:
        model(x).sum().backward()
    averages = prof.key_averages()
    assert sum(row.flops for row in averages if row.key not in POINTWISE) == counter.get_total_flops()
    assert averages.total_average().flops == sum(row.flops for row in averages) == sum(event.flops for event in prof.events())


@pytest.mark.parametrize("make", [convolutions, attention, language])
def test_rows_that_torch_counts_are_equal(torch, make):
    model, x = make(torch)
    rows = []
    for module in (torch.profiler.profile, profile):
        with module(with_flops=True) as prof:
            model(x).sum().backward()
        rows.append({row.key: row.flops for row in prof.key_averages() if row.flops})
    theirs, ours = rows
    assert theirs
    assert {key: ours.get(key) for key in theirs} == theirs


def batched_gradient(torch):
    weights, batch = torch.randn(8, 4), torch.randn(5, 8)
    gradient = torch.func.grad(lambda weights, one: (one @ weights).tanh().sum())
    return lambda: torch.func.vmap(gradient, in_dims=(None, 0))(weights, batch)


def compressed_rows(torch):
    matrix, other = torch.eye(6).to_sparse_csr(), torch.randn(6, 3)
    return lambda: matrix @ other


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("make", [batched_gradient, compressed_rows])
def test_a_product_that_calls_the_same_product_is_counted_at_every_level_by_torch_and_once_by_ours(torch, make):
    from torch.utils.flop_counter import FlopCounterMode

    program = make(torch)
    with FlopCounterMode(display=False) as counter:
        program()
    sums = []
    for module in (torch.profiler.profile, profile):
        with module(with_flops=True) as prof:
            program()
        sums.append(sum(row.flops for row in prof.key_averages() if row.key not in POINTWISE))
    assert sums[0] > counter.get_total_flops() == sums[1] > 0


def test_attention_and_convolutions_that_torch_has_no_formula_for_are_counted_as_by_its_counter(torch):
    from torch.utils.flop_counter import FlopCounterMode

    query = torch.ones(1, 2, 4, 8)
    layers = [torch.nn.Conv1d(2, 3, 2), torch.nn.ConvTranspose2d(2, 3, 2), torch.nn.Conv3d(2, 3, 2)]
    inputs = [torch.ones(1, 2, *[4] * dimensions) for dimensions in (1, 2, 3)]

    def program():
        torch.nn.functional.scaled_dot_product_attention(query, query, query)
        for layer, x in zip(layers, inputs, strict=True):
            layer(x)

    with FlopCounterMode(display=False) as counter:
        for layer, x in zip(layers, inputs, strict=True):
            layer(x)
    sums = []
    for module in (torch.profiler.profile, profile):
        with module(with_flops=True) as prof:
            program()
        sums.append({row.key: row.flops for row in prof.key_averages() if row.flops})
    theirs, ours = sums
    assert theirs == {}
    assert ours.pop("aten::_scaled_dot_product_flash_attention_for_cpu") == 4 * 2 * 4 * 4 * 8
    assert sum(ours.values()) == counter.get_total_flops()
