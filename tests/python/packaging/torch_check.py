"""Run by hand in an environment that holds the wheel and a PyTorch: the ready bridge records the ops that torch.profiler records.

It fails if the package has no bridge for this PyTorch, or if the names or counts of ops differ.
"""

import collections
import platform
import sys
import tempfile
from pathlib import Path

import mindtorch_v2
import torch
from mindtorch_v2.profiler import profile
from mindtorch_v2.torch_bridge import ready

STEPS = 3


def training_step(model, optimizer, x, y):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def ops_under(profiler, **options):
    """The counts of ops of three steps, and the profile. The first step, which allocates the state of the optimizer, is not recorded."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 6 * 6, 5)
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    x, y = torch.randn(8, 1, 8, 8), torch.randint(0, 5, (8,))
    training_step(model, optimizer, x, y)
    with profiler(record_shapes=True, profile_memory=True, **options) as prof:
        for _ in range(STEPS):
            training_step(model, optimizer, x, y)
    return collections.Counter({row.key: row.count for row in prof.key_averages() if "::" in row.key}), prof


def main():
    print(f"mindtorch_v2 {mindtorch_v2.__version__}, PyTorch {torch.__version__}, Python {platform.python_version()}, {platform.machine()}")
    assert ready.find(torch), "the package has no bridge for this PyTorch"
    theirs, _ = ops_under(torch.profiler.profile, activities=[torch.profiler.ProfilerActivity.CPU])
    ours, prof = ops_under(profile)
    print(prof.key_averages().table(sort_by="count", row_limit=8))
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json.gz"
        prof.export_chrome_trace(str(trace))
        assert trace.stat().st_size > 0
    differences = {name: (ours[name], theirs[name]) for name in ours.keys() | theirs.keys() if ours[name] != theirs[name]}
    assert not differences, f"ours and torch.profiler's counts differ: {differences}"
    print(f"The counts of all {len(ours)} ops are those of torch.profiler: {ours.total()} calls in {STEPS} steps")


if __name__ == "__main__":
    sys.exit(main())
