"""Holistic Trace Analysis loads our Chrome traces, and its numbers are ours."""

import json
import subprocess

import pytest

pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def times_are_not_rounded(monkeypatch):
    monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", "1")


@pytest.fixture(params=["cuda", "npu"])
def name(request):
    return request.param


@pytest.fixture
def analysis(traces, name):
    from hta.trace_analysis import TraceAnalysis

    return TraceAnalysis(trace_files={0: str(traces / f"{name}.json")}, include_last_profiler_step=True)


@pytest.fixture
def info(program, traces, name):
    return json.loads(
        subprocess.run([program("mtprof"), "info", traces / f"{name}.mtrec", "--json"], capture_output=True, check=True).stdout
    )


def test_it_finds_our_steps(analysis, info):
    assert analysis.t.get_ranks() == [0]
    assert analysis.t.get_iterations(0) == [step["number"] for step in info["steps"]] == [2, 3, 4]


def test_it_finds_every_kernel_in_its_step(analysis, info):
    events = analysis.t.get_trace(0)
    on_device = events[events["stream"] >= 0]
    assert len(on_device) == sum(info["kinds"][kind] for kind in ("kernel", "memcpy", "memset", "collective"))
    for step in info["steps"]:
        launched = on_device[on_device["iteration"] == step["number"]]
        assert launched["dur"].sum() * 1000 == pytest.approx(step["device_ns"])


@pytest.mark.parametrize("name", ["cuda"])  # it takes collectives for computing unless they have NVIDIA's names
def test_its_temporal_breakdown_is_ours(analysis, info):
    row = analysis.get_temporal_breakdown(visualize=False).iloc[0]
    (device,) = info["devices"]
    assert row["kernel_time(us)"] * 1000 == pytest.approx(device["span_ns"])
    assert row["compute_time(us)"] * 1000 == pytest.approx(device["compute_ns"])
    assert row["non_compute_time(us)"] * 1000 == pytest.approx(device["non_compute_ns"])
    assert row["idle_time(us)"] * 1000 == pytest.approx(device["idle_ns"])
    assert all(device[part] > 0 for part in ("compute_ns", "non_compute_ns", "idle_ns")), "the sample shows all of them"


def test_it_reads_the_rank_of_a_file_in_a_folder(traces, tmp_path):
    from hta.trace_analysis import TraceAnalysis

    text = (traces / "cuda.json").read_text().replace('"rank": 0', '"rank": 5', 1)
    (tmp_path / "worker.json").write_text(text)
    assert TraceAnalysis(trace_dir=str(tmp_path)).t.get_ranks() == [5]
