"""adjust_profiler_step: steps that a function ends begin with the call of the function."""

import json

import pytest
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function, schedule

STEPS = 4


def body(prof):
    with record_function("work"):
        pass
    prof.step()


def slices(path, **options):
    """Steps and calls of the function that ends them, as (start, end) in nanoseconds."""
    with profile(schedule=schedule(wait=0, warmup=0, active=STEPS, repeat=1), **options) as prof:
        for _ in range(STEPS):
            body(prof)
    prof.export_chrome_trace(path)
    found = {"step": [], "body": []}
    for event in json.loads(path.read_text())["traceEvents"]:
        kind = "step" if event["name"].startswith("ProfilerStep#") else "body" if event["name"].endswith(": body") else None
        if kind is not None:
            start = round(event["ts"] * 1000)
            found[kind].append((start, start + round(event["dur"] * 1000)))
    return found["step"], found["body"]


def overlap_in_part(one, other):
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


@pytest.mark.filterwarnings("error:experimental_config")
def test_a_step_begins_with_the_call_that_ends_it(tmp_path):
    config = _ExperimentalConfig(adjust_profiler_step=True)
    steps, calls = slices(tmp_path / "trace.json", with_stack=True, experimental_config=config)
    assert len(steps) == len(calls) == STEPS
    assert not any(overlap_in_part(step, call) for step in steps for call in calls)
    for step, call in zip(steps, calls, strict=True):
        assert call[0] < step[0] <= step[1] <= call[1]


def test_without_the_option_a_step_begins_where_the_last_one_ended(tmp_path):
    steps, calls = slices(tmp_path / "trace.json", python_calls=True)
    assert len(steps) == len(calls) == STEPS
    assert any(overlap_in_part(step, call) for step in steps for call in calls)


@pytest.mark.filterwarnings("error:experimental_config")
def test_without_python_calls_nothing_is_moved(tmp_path):
    config = _ExperimentalConfig(adjust_profiler_step=True)
    steps, calls = slices(tmp_path / "trace.json", experimental_config=config)
    assert len(steps) == STEPS and not calls


@pytest.mark.filterwarnings("error:experimental_config")
def test_steps_that_are_written_to_a_file_are_not_moved(tmp_path):
    config = _ExperimentalConfig(adjust_profiler_step=True, spill_path=str(tmp_path / "spill.mtrec"))
    steps, calls = slices(tmp_path / "trace.json", with_stack=True, python_calls=True, experimental_config=config)
    assert len(steps) == len(calls) == STEPS
    assert any(overlap_in_part(step, call) for step in steps for call in calls)
