"""Files made of a profile of torch: the tools that read torch's traces read ours."""

import json
import subprocess

import pytest


@pytest.fixture(scope="module")
def trace(torch, training, tmp_path_factory):
    from mindtorch_v2.profiler import profile, schedule

    step = training("transformer")
    path = tmp_path_factory.mktemp("trace") / "rank0.json"
    with profile(activities=["cpu"], schedule=schedule(wait=1, warmup=1, active=3), record_shapes=True, profile_memory=True) as p:
        for _ in range(5):
            step()
            p.step()
    p.add_metadata_json("distributedInfo", json.dumps({"rank": 0}))
    p.export_chrome_trace(str(path))
    return path


def test_the_validator_has_nothing_to_complain_about(trace, program):
    done = subprocess.run([program("mtprof"), "validate", trace], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_holistic_trace_analysis_reads_it(trace):
    pytest.importorskip("hta", reason="Holistic Trace Analysis is not installed")
    from hta.common.trace import Trace

    traces = Trace(trace_files={0: str(trace)}, trace_dir=str(trace.parent))
    traces.parse_traces(use_multiprocessing=False)
    frame = traces.get_trace(0)
    names = frame["name"].map(dict(enumerate(traces.symbol_table.get_sym_table())))
    content = json.loads(trace.read_text())["traceEvents"]
    for name in ("aten::addmm", "autograd::engine::evaluate_function: AddmmBackward0", "Optimizer.step#AdamW.step"):
        assert (names == name).sum() == sum(event["name"] == name and event["ph"] == "X" for event in content) > 0


def test_steps_are_marked(trace):
    names = [event["name"] for event in json.loads(trace.read_text())["traceEvents"]]
    assert [name for name in names if name.startswith("ProfilerStep")] == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]


def test_no_events_of_a_thread_overlap_in_part(trace):
    threads = {}
    for event in json.loads(trace.read_text())["traceEvents"]:
        if event["ph"] == "X" and event.get("cat") in ("cpu_op", "user_annotation"):
            threads.setdefault(event["tid"], []).append((round(event["ts"] * 1000), -round(event["dur"] * 1000)))
    for spans in threads.values():
        open_ends = []
        for start, minus_duration in sorted(spans):
            end = start - minus_duration
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)
