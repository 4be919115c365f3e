"""Shared by the Python tests of the profiler: small programs to profile, and short questions about what was recorded."""

import mindtorch_v2 as torch
from mindtorch_v2.profiler import _ExperimentalConfig, profile


def names(prof, kind="op"):
    """The names of the events of one kind, in order."""
    return [event["name"] for event in prof.events() if event["kind"] == kind]


def record_ops(op, count=3, **options):
    """A profile of `count` calls of aten::mul, made with the fixture `op`."""
    with profile(**options) as prof:
        for _ in range(count):
            op("aten::mul", [2, 2])
    return prof


def overrun_budget(x):
    """A profile of 200,000 additions of the tensor `x` of either host, with shapes, which need more memory than the profile may use."""
    with profile(record_shapes=True, experimental_config=_ExperimentalConfig(budget_bytes=2 << 20)) as prof:
        for _ in range(200_000):
            x + x
    return prof


def train(steps=1):
    """Trains a layer with one output for some steps."""
    layer = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        layer(torch.ones((4, 2))).sum().backward()
        optimizer.step()
