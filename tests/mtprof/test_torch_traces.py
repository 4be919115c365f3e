"""mtprof on traces that the installed PyTorch has just written: its table is the one torch prints."""

import json
import re
import subprocess

import pytest

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module", params=[".json", ".json.gz"])
def profiled(request, tmp_path_factory):
    """A profile of two training steps, and the trace torch wrote of it."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function, schedule

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    steps = schedule(wait=0, warmup=1, active=2, repeat=1)
    with profile(activities=[ProfilerActivity.CPU], schedule=steps, record_shapes=True, profile_memory=True) as prof:
        for _ in range(3):
            with record_function("forward"):
                loss = model(torch.randn(8, 16)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    path = tmp_path_factory.mktemp("torch") / f"trace{request.param}"
    prof.export_chrome_trace(str(path))
    return prof, path


@pytest.fixture
def mtprof(program):
    return lambda *arguments: subprocess.run([program("mtprof"), *map(str, arguments)], capture_output=True, text=True, check=True).stdout


def is_same_cell(ours, torchs):
    """Torch adds up floats, which can move the last digit of a time."""
    number, unit = re.fullmatch(r"(-?[\d.]*)(.*)", ours).groups()
    other, other_unit = re.fullmatch(r"(-?[\d.]*)(.*)", torchs).groups()
    return ours == torchs or (unit == other_unit and "." in number and float(number) == pytest.approx(float(other), abs=0.0011))


@pytest.mark.parametrize("by_shape", [False, True])
def test_the_table_is_torchs(profiled, mtprof, by_shape):
    prof, path = profiled
    expected = prof.key_averages(group_by_input_shape=by_shape).table(row_limit=-1).splitlines()
    flags = ["--by-shape"] if by_shape else []
    shown = mtprof("table", path, "--sort-by", "", "--limit", -1, *flags).splitlines()[:-1]
    assert len(expected) > 30
    for our_line, torchs_line in zip(shown, expected, strict=True):
        ours, torchs = (re.split(r"  +", line) for line in (our_line, torchs_line))
        assert all(map(is_same_cell, ours, torchs)) and len(ours) == len(torchs), f"{our_line}\n{torchs_line}"


def test_the_total_is_torchs(profiled, mtprof):
    prof, path = profiled
    expected = prof.key_averages().total_average()
    total = json.loads(mtprof("table", path, "--json"))["total"]
    assert total["count"] == expected.count
    assert total["self_cpu_time_total"] == pytest.approx(expected.self_cpu_time_total)
    assert total["self_cpu_memory_usage"] == expected.self_cpu_memory_usage
