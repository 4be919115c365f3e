"""Calls at the wrong time: a warning or, where torch raises, an error; the running recording is unharmed."""

import json
import threading

import pytest
from mindtorch_v2.profiler import ProfilerAction, profile, schedule
from profiles import names


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda prof: prof.events(), "accessing events"),
        (lambda prof: prof.key_averages(), "getting key averages"),
        (lambda prof: prof.export_chrome_trace("x"), "exporting chrome trace"),
        (lambda prof: prof.export_stacks("x"), "exporting stacks"),
        (lambda prof: prof.stop(), "stopping trace"),
        (lambda prof: prof.start_trace(), "starting trace"),
        (lambda prof: prof.stop_trace(), "stopping trace"),
    ],
)
def test_calls_before_start_are_refused_with_torchs_text(call, text):
    with pytest.raises(AssertionError, match=f"^Profiler must be initialized before {text}$"):
        call(profile())


def test_a_negative_timeout_is_refused():
    with pytest.raises(ValueError, match="^post_processing_timeout_s must be non-negative$"):
        profile(post_processing_timeout_s=-1.0)


# Rule: schedule.outside


def test_steps_before_start_follow_the_schedule_with_one_warning(op):
    prof = profile(schedule=schedule(wait=1, warmup=1, active=1, repeat=1))
    with pytest.warns(UserWarning, match="before start") as warned:
        prof.step()
        prof.step()
        op("aten::recorded")
        prof.step()
    assert len(warned) == 1 and prof.step_num == 3
    assert "aten::recorded" in names(prof)


def test_steps_after_stop_are_counted_with_one_warning(op):
    with profile() as prof:
        op("aten::mul")
    with pytest.warns(UserWarning, match="after stop") as warned:
        for _ in range(3):
            prof.step()
    assert len(warned) == 1 and prof.step_num == 3 and names(prof) == ["aten::mul"]


# Rule: session.nested


def test_a_nested_profile_is_empty_with_a_warning_and_the_running_one_is_unharmed(op, tmp_path):
    with profile() as outer:
        op("aten::before")
        with pytest.warns(UserWarning, match="Another profiling session is active and goes on"), profile() as inner:
            op("aten::inside")
        op("aten::after")
    assert names(outer) == ["aten::before", "aten::inside", "aten::after"]
    inner.export_chrome_trace(tmp_path / "empty.json")
    assert names(inner) == [] and inner.key_averages().table() == "" and json.loads((tmp_path / "empty.json").read_text())


def test_a_second_start_or_stop_has_no_effect_and_loses_nothing(op):
    prof = profile()
    prof.start()
    with pytest.warns(UserWarning, match="while the profile runs: it goes on"):
        prof.start()
    op("aten::mul")
    prof.stop()
    with pytest.warns(UserWarning, match="already stopped"):
        prof.stop()
    assert names(prof) == ["aten::mul"]


def test_a_stop_before_the_first_recorded_step_is_nothing():
    profile(schedule=schedule(wait=1, warmup=1, active=1)).stop()


def test_a_session_of_another_thread_or_of_the_older_api_is_empty_too(op):
    import mindtorch_v2.autograd.profiler as older

    found = []

    def record(make):
        with make() as inner:
            op("aten::inside")
        found.append(len(inner.key_averages()))

    with profile() as prof, pytest.warns(UserWarning, match="Another profiling session is active"):
        thread = threading.Thread(target=record, args=(profile,))
        thread.start()
        thread.join()
        record(older.profile)
    assert found == [0, 0] and names(prof) == ["aten::inside"] * 2


def test_a_stop_in_on_trace_ready_ends_the_profile_with_the_step(op):
    ready = []

    def handler(prof):
        ready.append(prof.step_num)
        prof.stop()

    with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=handler) as prof:
        prof.step()
        op("aten::mul")
        prof.step()
        with pytest.warns(UserWarning, match="after stop"):
            prof.step()
    assert ready == [2] and "aten::mul" in names(prof)


def test_other_calls_in_on_trace_ready_have_no_effect(op):
    def handler(prof):
        prof.start()
        prof.step()

    with pytest.warns(UserWarning, match="from inside a callback"), profile(on_trace_ready=handler) as prof:
        op("aten::mul")
    assert prof.step_num == 1 and names(prof) == ["aten::mul"]


@pytest.mark.parametrize("returned", [None, 3, True, "RECORD"])
def test_what_a_schedule_must_not_return_records_nothing(op, returned):
    with profile(schedule=lambda step: ProfilerAction.RECORD if step == 0 else returned) as prof:
        op("aten::first")
        prof.step()
        op("aten::second")
    assert names(prof)[-1] == "aten::first"


def test_a_trace_that_cannot_be_written_is_a_warning(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    with pytest.warns(UserWarning, match="The trace was not written: cannot write .*No such file"):
        prof.export_chrome_trace(tmp_path / "missing" / "trace.json")
    with pytest.raises(FileNotFoundError):
        prof.export_chrome_trace(tmp_path / "missing" / "trace.json.gz")


def test_a_wrong_call_while_recording_is_refused_and_loses_nothing(op, tmp_path):
    with profile() as prof:
        op("aten::before")
        for wrong in (
            lambda: prof.export_chrome_trace(tmp_path / "trace.json"),
            lambda: prof.export_stacks(tmp_path / "stacks.txt"),
            lambda: prof.export_memory_timeline(tmp_path / "timeline.json"),
            lambda: prof.add_metadata("key", 1),
            lambda: prof.toggle_collection_dynamic(True, ["no such activity"]),
        ):
            with pytest.raises((RuntimeError, ValueError, AssertionError, AttributeError)):
                wrong()
        op("aten::after")
    assert names(prof) == ["aten::before", "aten::after"]
    assert list(tmp_path.iterdir()) == []
