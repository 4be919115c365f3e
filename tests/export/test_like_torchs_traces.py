"""A trace that torch.profiler wrote on a GPU, read and exported again: the same arguments, and the same numbers in other tools."""

import gzip
import json
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

import pytest

TORCHS = Path(__file__).with_name("data") / "torch_2.11_cuda.json.gz"
# What the trace has that is not of torch: where the tensors of an op are, and memory before and after it.
OWN = {"device_type", *(f"{device}_memory_allocated_{when}" for device in ("cpu", "cuda") for when in ("before", "after", "delta"))}


@pytest.fixture(scope="module")
def ours(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    for source, target in ((TORCHS, "trace.mtrec"), (folder / "trace.mtrec", "trace.json.gz")):
        subprocess.run([program("mtprof"), "export", source, "-o", folder / target], check=True, capture_output=True)
    return folder / "trace.json.gz"


def arguments(path):
    """How often events of each category have each argument."""
    found = defaultdict(Counter)
    with gzip.open(path, "rt") as file:
        for event in json.load(file)["traceEvents"]:
            if event["ph"] in "Xi" and "cat" in event:
                found[event["cat"]].update(set(event.get("args", {})) - OWN)
    return dict(found)


def test_events_of_each_category_have_the_arguments_that_torch_wrote(ours):
    theirs = arguments(TORCHS)
    assert {"cpu_op", "kernel", "cuda_runtime", "gpu_memcpy", "gpu_user_annotation", "user_annotation"} <= set(theirs)
    assert arguments(ours) == theirs


def numbers_of(path):
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_files={0: str(path)}, include_last_profiler_step=True)
    return {
        "breakdown": analysis.get_temporal_breakdown(visualize=False).to_dict("records"),
        "kernels": analysis.get_gpu_kernel_breakdown(visualize=False)[1].to_dict("records"),
        "annotations": analysis.get_gpu_user_annotation_breakdown(visualize=False).to_dict("records"),
        "idle": analysis.get_idle_time_breakdown(visualize=False)[0].to_dict("records"),
        "overlap": analysis.get_comm_comp_overlap(visualize=False).to_dict("records"),
        "queues": analysis.get_queue_length_summary().to_dict("records"),
        "bandwidth": analysis.get_memory_bw_summary().to_dict("records"),
    }


@pytest.mark.torch
def test_holistic_trace_analysis_has_the_same_numbers_of_both(ours, monkeypatch):
    pytest.importorskip("hta.trace_analysis")
    monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", "1")
    theirs, mine = numbers_of(TORCHS), numbers_of(ours)
    for name, rows in theirs.items():
        assert len(rows) == len(mine[name]) > 0 or name in ("queues", "bandwidth"), name
        for row, same in zip(rows, mine[name], strict=True):
            for column, value in row.items():
                is_number = isinstance(value, int | float)
                assert same[column] == (pytest.approx(value, rel=1e-9, nan_ok=True) if is_number else value), (name, column)
