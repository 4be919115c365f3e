"""FLOPs of the efficiency against torch.utils.flop_counter, op by op, and MFU against the formula of 6 N FLOPs for each token.

Where a number differs on purpose (causal attention), the test says by how much.
"""

import pytest
from mindtorch_v2.profiler import profile, record_function

pytestmark = pytest.mark.torch

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional

FLOAT32 = {"float32": 1.0, "float64": 0.5, "bfloat16": 2.0, "memory": 0.1}  # TFLOP/s, TB/s


def recorded(program):
    with profile(record_shapes=True, with_modules=True) as prof:
        program()
    return prof.recording().efficiency(FLOAT32)


def flops_of_products(answer):
    return sum(row.flops for row in answer.ops if is_product(row.name))


def is_product(name):
    return any(part in name for part in ("mm", "conv", "attention", "linear"))


def counted_by_torch(program):
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        program()
    return counter.get_total_flops()


def tensor(*sizes):
    return torch.randn(*sizes, requires_grad=True)


PROGRAMS = {
    "mm": lambda: torch.mm(tensor(32, 48), tensor(48, 64)).sum().backward(),
    "addmm": lambda: F.linear(tensor(8, 16, 48), tensor(64, 48), tensor(64)).sum().backward(),
    "bmm": lambda: torch.bmm(tensor(4, 32, 48), tensor(4, 48, 64)).sum().backward(),
    "baddbmm": lambda: torch.baddbmm(tensor(4, 32, 64), tensor(4, 32, 48), tensor(4, 48, 64)).sum().backward(),
    "matmul": lambda: torch.matmul(tensor(3, 1, 8, 16), tensor(5, 16, 4)).sum().backward(),
    "einsum": lambda: torch.einsum("bij,bjk->bik", tensor(4, 8, 16), tensor(4, 16, 32)).sum().backward(),
    "conv1d": lambda: F.conv1d(tensor(2, 8, 40), tensor(16, 8, 5), stride=2, padding=1).sum().backward(),
    "conv2d": lambda: F.conv2d(tensor(2, 8, 20, 24), tensor(16, 8, 3, 3), tensor(16), stride=2, padding=1).sum().backward(),
    "conv2d in groups": lambda: F.conv2d(tensor(2, 8, 20, 24), tensor(16, 2, 3, 3), groups=4),
    "conv2d dilated": lambda: F.conv2d(tensor(2, 8, 20, 24), tensor(16, 8, 3, 3), dilation=2).sum().backward(),
    "conv3d": lambda: F.conv3d(tensor(1, 4, 8, 10, 12), tensor(8, 4, 2, 3, 3)).sum().backward(),
    "conv_transpose2d": lambda: F.conv_transpose2d(tensor(2, 8, 10, 12), tensor(8, 16, 3, 3), stride=2, output_padding=1).sum().backward(),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_flops_are_those_of_torch(name):
    assert flops_of_products(recorded(PROGRAMS[name])) == pytest.approx(counted_by_torch(PROGRAMS[name]), rel=1e-5)


def test_gradients_of_groups_are_as_large_as_the_forward_pass():
    """torch counts the gradient of the weight as if there were no groups."""

    def program():
        F.conv2d(tensor(2, 8, 20, 24), tensor(16, 2, 3, 3), groups=4).sum().backward()

    assert flops_of_products(recorded(program)) == pytest.approx(3 * counted_by_torch(PROGRAMS["conv2d in groups"]), rel=1e-5)


@pytest.mark.parametrize("keys", [64, 96])
def test_attention_is_counted_by_torchs_formulas(keys):
    """torch's counter does not see the kernels for the CPU, whose formulas are those of the other kernels."""
    from torch.utils.flop_counter import sdpa_backward_flop_count, sdpa_flop_count

    query, others = (2, 4, 64, 32), (2, 4, keys, 32)

    def program(causal=False):
        F.scaled_dot_product_attention(tensor(*query), tensor(*others), tensor(*others), is_causal=causal).sum().backward()

    counted = sdpa_flop_count(query, others, others) + sdpa_backward_flop_count(query, query, others, others)
    assert flops_of_products(recorded(program)) == pytest.approx(counted, rel=1e-5)
    if keys == 64:  # of a square of scores, those on and below the diagonal are kept
        assert flops_of_products(recorded(lambda: program(causal=True))) == pytest.approx(counted * 65 / 128, rel=1e-5)


def test_the_math_kernel_is_counted_by_its_products():
    def program():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            F.scaled_dot_product_attention(tensor(2, 4, 64, 32), tensor(2, 4, 64, 32), tensor(2, 4, 64, 32)).sum().backward()

    assert flops_of_products(recorded(program)) == pytest.approx(counted_by_torch(program), rel=1e-5)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.before(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*qkv, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.after(x))))


class GPT(nn.Module):
    """As GPT-2 is built, only smaller. The embedding is used again for the output."""

    def __init__(self, width=64, heads=4, layers=3, words=512, length=32, checkpointed=False):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.checkpointed = checkpointed

    def forward(self, tokens):
        from torch.utils.checkpoint import checkpoint

        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.checkpointed else block(x)
        return self.norm(x) @ self.words.weight.T


def train(model, tokens, steps=5):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with profile(record_shapes=True, with_modules=True) as prof:
        for _ in range(steps):
            loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    return prof.recording().efficiency(FLOAT32)


def test_mfu_is_that_of_six_flops_for_each_parameter_and_token():
    batch, length, width, layers = 4, 32, 64, 3
    model = GPT(width=width, layers=layers, length=length)
    answer = train(model, torch.randint(0, 512, (batch, length)))
    # Biases and norms multiply no matrices, and places are only looked up.
    weights = sum(p.numel() for p in model.parameters() if p.dim() == 2) - model.places.weight.numel()
    tokens = batch * length
    # Scores of the past alone, a product of them with queries and one with values; backward has five products in place of four.
    attention = layers * (2 * 2 * width * tokens * (length + 1) / 2) * (1 + 2)
    steps = [step for step in answer.steps if step.calls > 100]  # the last one is what follows the loop
    assert len(steps) == 5
    for step in steps:
        expected = (6 * weights * tokens + attention) / 1e12 / (step.duration_ns / 1e9)
        assert step.mfu == pytest.approx(expected, rel=1e-3)
        assert step.mfu < step.hfu < 1.1 * step.mfu  # what flash attention computes again


def test_checkpointing_is_part_of_hfu_alone():
    tokens = torch.randint(0, 512, (4, 32))
    plain, again = train(GPT(), tokens), train(GPT(checkpointed=True), tokens)

    def model_flops(answer):
        return sum(step.mfu * step.duration_ns for step in answer.steps)

    def all_flops(answer):
        return sum(step.hfu * step.duration_ns for step in answer.steps)

    assert model_flops(again) == pytest.approx(model_flops(plain), rel=1e-3)
    assert all_flops(again) > 1.15 * all_flops(plain)


def test_modules_have_forward_and_backward():
    layer = nn.Linear(32, 64)

    def program():
        layer(tensor(16, 32)).sum().backward()

    rows = {row.name: row for row in recorded(program).modules}
    (row,) = [row for name, row in rows.items() if "Linear" in name]
    assert row.flops == pytest.approx(3 * 2 * 16 * 32 * 64 + 16 * 64, rel=0.05)


def test_scopes_around_ops_change_nothing():
    def program():
        with record_function("around"):
            PROGRAMS["mm"]()

    assert flops_of_products(recorded(program)) == flops_of_products(recorded(PROGRAMS["mm"]))


def test_torchs_own_column_stays_torchs():
    with profile(record_shapes=True, with_flops=True) as prof:
        torch.add(torch.randn(1, 16), torch.randn(8, 16))
    assert next(row.flops for row in prof.key_averages() if row.key == "aten::add") == 16  # its first argument alone
    (row,) = [row for row in prof.recording().efficiency(FLOAT32).ops if row.name == "aten::add"]
    assert row.flops == 128
