"""export_stacks: metrics, lines and weights."""

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import profile
from profiles import record_ops

METRICS = ["self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"]


def test_export_stacks_needs_with_stack(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    with pytest.raises(AssertionError, match=r"^export_stacks\(\) requires with_stack=True$"):
        prof.export_stacks(tmp_path / "x")


# Rule: stacks_file.lines


def test_the_metrics_of_stacks_are_torchs():
    with profile() as prof:
        pass
    assert prof.key_averages().supported_export_stacks_metrics() == METRICS


def test_stacks_refuse_another_metric(tmp_path):
    with profile(with_stack=True) as prof:
        torch.ones((2, 2)) * 2
    with pytest.raises(ValueError) as refused:
        prof.key_averages(group_by_stack_n=5).export_stacks(tmp_path / "stacks.txt", "count")
    assert str(refused.value) == f"metric should be one of: {METRICS}"
    assert not (tmp_path / "stacks.txt").exists()


def test_stacks_are_lines_of_frames_and_an_integer(tmp_path):
    with profile(with_stack=True) as prof:
        torch.ones((2, 2)) * 2
    prof.key_averages(group_by_stack_n=5).export_stacks(tmp_path / "stacks.txt", "self_cpu_time_total")
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    assert lines
    for line in lines:
        frames, weight = line.rsplit(" ", 1)
        assert int(weight) > 0 and " " not in frames
    assert lines[0].rsplit(" ", 1)[0].endswith("test_stacks_are_lines_of_frames_and_an_integer")


# Rule: stacks_file.weights


def test_weights_of_stacks_are_whole_microseconds_rounded_up(op, tmp_path):
    prof = record_ops(op, count=1, with_stack=True)
    prof.export_stacks(tmp_path / "stacks.txt")
    total_ns = sum(event["duration_ns"] for event in prof.events())
    (line,) = (tmp_path / "stacks.txt").read_text().splitlines()
    assert int(line.rsplit(" ", 1)[1]) == -(-total_ns // 1000)
