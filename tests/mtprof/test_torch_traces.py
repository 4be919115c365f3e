"""mtprof on traces that the installed PyTorch has just written: its table is the one torch prints."""

import gzip
import json
import re
import subprocess

import pytest

pytestmark = pytest.mark.torch

CREATE, DESTROY = 2, 4
OPTIMIZER_STATE, GRADIENT = 1, 5


def train(**options):
    """A profile of two training steps. The module is asked for here, so that the file can be read without PyTorch."""
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, **options) as prof:
        for _ in range(2):
            with record_function("forward"):
                loss = model(torch.randn(8, 16)).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    return prof


@pytest.fixture(scope="module", params=[".json", ".json.gz"])
def profiled(request, tmp_path_factory):
    """A profile, and the trace torch wrote of it."""
    from torch.profiler import ProfilerAction

    prof = train(schedule=lambda step: ProfilerAction.RECORD)
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


def read_gzip(path):
    return json.loads(gzip.decompress(path.read_bytes()))


@pytest.mark.filterwarnings("ignore:.*export_memory_timeline")
def test_the_memory_timeline_has_torchs_allocations(mtprof, tmp_path):
    prof = train(with_stack=True)
    prof.export_memory_timeline(str(tmp_path / "torch.raw.json.gz"), device="cpu")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    mtprof("export", tmp_path / "trace.json", "--memory-timeline", tmp_path / "ours.raw.json.gz", "--device", "cpu")
    changes = {}
    for whose in ("torch", "ours"):
        rows = read_gzip(tmp_path / f"{whose}.raw.json.gz")
        changes[whose] = sorted(row for row in rows if row[1] in (CREATE, DESTROY))
    assert len(changes["torch"]) > 50
    assert [row[:3] for row in changes["ours"]] == [row[:3] for row in changes["torch"]]
    for category in (OPTIMIZER_STATE, GRADIENT):
        ours, torchs = ([row for row in changes[whose] if row[3] == category] for whose in ("ours", "torch"))
        assert ours == torchs != []
