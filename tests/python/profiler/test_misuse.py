"""Calls at the wrong time: a clear error, and the running recording is unharmed."""

import threading

import pytest
from mindtorch_v2.profiler import profile
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


# Requirement D8


def test_a_step_without_start_is_an_error():
    with pytest.raises(RuntimeError, match="profiler session is not active"):
        profile().step()


# Requirement T5


def test_a_nested_session_is_refused_and_the_running_one_is_unharmed(op):
    with profile() as outer:
        op("aten::before")
        with pytest.raises(RuntimeError, match="another profiling session is active"), profile():
            pytest.fail("the inner profile must not start")
        op("aten::after")
    assert [event.name for event in outer.events()] == ["aten::before", "aten::after"]


def test_a_second_stop_is_refused_and_loses_nothing(op):
    prof = profile()
    prof.start()
    op("aten::mul")
    prof.stop()
    with pytest.raises(RuntimeError, match="already stopped"):
        prof.stop()
    assert [event.name for event in prof.events()] == ["aten::mul"]


def test_use_after_stop_is_refused():
    with profile() as prof:
        pass
    with pytest.raises(RuntimeError, match="not active"):
        prof.step()


def test_a_session_of_another_thread_or_of_the_older_api_is_refused_too(op):
    import mindtorch_v2.autograd.profiler as older

    refused = []

    def start(make):
        try:
            make().__enter__()
        except RuntimeError as error:
            refused.append(str(error))

    with profile() as prof:
        op("aten::before")
        thread = threading.Thread(target=start, args=(profile,))
        thread.start()
        thread.join()
        start(older.profile)
        op("aten::after")
    assert len(refused) == 2 and all("another profiling session is active" in text for text in refused)
    assert names(prof) == ["aten::before", "aten::after"]


def test_a_wrong_call_while_recording_is_refused_and_loses_nothing(op, tmp_path):
    with profile() as prof:
        op("aten::before")
        for wrong in (
            prof.start,
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


def test_errors_do_not_name_parts_of_the_library():
    with profile(), pytest.raises(RuntimeError, match="^another profiling session is active"):
        profile().start()
    with pytest.raises(RuntimeError, match="^profiler session is not active"):
        profile().step()
