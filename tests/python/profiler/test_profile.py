"""The life of a profile: order of calls, threads, callbacks, garbage collection, forks."""

import gc
import os
import threading
import warnings
import weakref

import pytest
from mindtorch_v2.profiler import (
    ProfilerAction,
    ProfilerActivity,
    _KinetoProfile,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

pytestmark = pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")


def test_a_profile_without_a_block_is_started_and_stopped(op):
    prof = profile()
    prof.start()
    op("aten::mul")
    prof.stop()
    assert len(prof.events()) == 1


def test_a_profile_can_be_started_again(op):
    prof = profile()
    for _ in range(2):
        prof.start()
        op("aten::mul")
        prof.stop()
    assert len(prof.events()) == 1


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


def test_export_stacks_needs_with_stack(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    with pytest.raises(AssertionError, match=r"^export_stacks\(\) requires with_stack=True$"):
        prof.export_stacks(tmp_path / "x")


def test_a_block_that_was_stopped_inside_ends_quietly():
    with profile() as prof:
        prof.stop()


def test_the_exception_of_a_block_comes_out_of_it(op):
    with pytest.raises(KeyError), profile() as prof:
        op("aten::mul")
        raise KeyError
    assert len(prof.events()) == 1


def test_the_parts_of_start_and_stop_can_be_called_alone(op):
    prof = _KinetoProfile()
    prof.prepare_trace()
    op("aten::too_early")
    prof.start_trace()
    op("aten::mul")
    prof.stop_trace()
    assert [event.name for event in prof.events()] == ["aten::mul"]


def test_steps_are_scopes_if_there_is_a_schedule():
    with profile(schedule=schedule(wait=1, warmup=1, active=2)) as prof:
        for _ in range(3):
            prof.step()
    assert [event.trace_name for event in prof.events()] == ["ProfilerStep#2", "ProfilerStep#3"]
    assert [row.key for row in prof.key_averages()] == ["ProfilerStep*"]
    assert prof.record_steps


def test_attributes_are_those_that_were_asked_for():
    prof = profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_modules=True)
    assert prof.activities == {ProfilerActivity.CPU} and prof.activity_filters == {}
    assert (prof.record_shapes, prof.profile_memory, prof.with_stack, prof.with_flops, prof.with_modules) == (
        True,
        False,
        False,
        False,
        True,
    )
    assert (prof.step_num, prof.current_action, prof.record_steps) == (0, ProfilerAction.RECORD, False)
    assert prof.profiler is None and prof.mem_tl is None and prof.has_cudagraphs is False and prof.use_device is None
    assert prof.preset_metadata == {} and prof.get_trace_id() is None and prof.step_rec_fn is None
    assert profile().activities == supported_activities()


def test_the_action_map_says_which_calls_are_made():
    prof = profile(schedule=schedule(wait=1, warmup=1, active=1))
    calls = prof.action_map[ProfilerAction.RECORD_AND_SAVE, ProfilerAction.WARMUP]
    assert [call.__name__ for call in calls] == ["stop_trace", "_trace_ready", "prepare_trace"]
    assert prof.action_map[ProfilerAction.NONE, ProfilerAction.NONE] == []


def test_trace_ids_come_from_the_callback():
    ids = iter(["one", "two"])
    prof = profile(custom_trace_id_callback=lambda: next(ids))
    with prof:
        assert prof.get_trace_id() == "one"
    prof.set_custom_trace_id_callback(lambda: "three")
    with prof:
        assert prof.get_trace_id() == "three"


def test_an_observer_runs_exactly_while_a_trace_runs():
    calls = []

    class Observer:
        def __getattr__(self, name):
            return lambda: calls.append(name)

    with profile(execution_trace_observer=Observer()):
        calls.append("block")
    assert calls == ["start", "block", "stop", "cleanup"]


def test_a_callback_can_read_and_export_what_was_recorded(op, tmp_path):
    seen = []

    def ready(prof):
        seen.append(len(prof.events()))
        prof.export_chrome_trace(tmp_path / "trace.json")
        prof.key_averages().table()

    with profile(on_trace_ready=ready):
        op("aten::mul")
    assert seen == [1] and (tmp_path / "trace.json").exists()


def test_a_callback_cannot_drive_the_profile_it_is_called_by():
    with pytest.raises(RuntimeError, match="called from inside a callback"), profile(on_trace_ready=lambda prof: prof.start()):
        pass


def test_preset_metadata_can_be_read_and_not_be_lost():
    prof = profile()
    prof.preset_metadata_json("key", "1")
    assert prof.preset_metadata == {"key": "1"}
    with pytest.raises(TypeError):
        prof.preset_metadata["other"] = "2"


def test_the_tensorboard_handler_writes_a_file_a_cycle(op, tmp_path):
    handler = tensorboard_trace_handler(tmp_path / "log", worker_name="worker", use_gzip=True)
    with profile(schedule=schedule(wait=0, warmup=1, active=1, repeat=2), on_trace_ready=handler) as prof:
        for _ in range(4):
            op("aten::mul")
            prof.step()
    names = sorted(path.name for path in (tmp_path / "log").iterdir())
    assert len(names) == 2
    assert all(name.startswith("worker.") and name.endswith(".pt.trace.json.gz") for name in names)


def test_the_tensorboard_handler_says_which_directory_it_cannot_make(op, tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RuntimeError, match="Can't create directory: "),
        profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "file" / "log"))),
    ):
        pass


def test_an_unfinished_profile_that_is_dropped_stops_recording(op):
    prof = profile()
    prof.start()
    dropped = weakref.ref(prof)
    with pytest.warns(ResourceWarning, match="never stopped"):
        del prof
        gc.collect()
    assert dropped() is None
    with profile() as second:
        op("aten::mul")
    assert len(second.events()) == 1


def test_a_profile_that_refers_to_itself_is_collected():
    prof = profile()
    prof.on_trace_ready = lambda _, own=prof: own
    dropped = weakref.ref(prof)
    del prof
    gc.collect()
    assert dropped() is None


def test_events_outlive_their_profile(op):
    with profile() as prof:
        op("aten::mul")
    events = prof.events()
    event = events[0]
    del prof
    gc.collect()
    assert event.name == events[0].name == "aten::mul"


def test_other_threads_run_while_a_callback_waits_for_them(op):
    """A callback that waits for a thread which asks the profile something would hang if a lock were held meanwhile."""
    lengths = []

    def ready(prof):
        thread = threading.Thread(target=lambda: lengths.append(len(prof.events())))
        thread.start()
        thread.join(30)
        assert not thread.is_alive()

    with profile(on_trace_ready=ready):
        op("aten::mul")
    assert lengths == [1]


def test_threads_record_while_the_profile_starts_and_stops(op):
    done = threading.Event()

    def work():
        while not done.is_set():
            op("aten::mul")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            with profile(record_shapes=True, with_stack=True) as prof:
                op("aten::here")
            assert "aten::here" in {event.name for event in prof.events()}
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_two_threads_cannot_record_at_once(op):
    errors = []

    def second():
        try:
            with profile():
                pass
        except RuntimeError as error:
            errors.append(str(error))

    with profile() as prof:
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        op("aten::mul")
    assert len(errors) == 1 and "another profiling session is active" in errors[0]
    assert len(prof.events()) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_can_record_while_its_parent_goes_on(op):
    with profile() as prof:
        op("aten::before")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
            child = os.fork()
        if child == 0:
            try:
                with profile() as own:
                    op("aten::child")
                os._exit(0 if [event.name for event in own.events()] == ["aten::child"] else 1)
            except BaseException:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        op("aten::after")
    assert os.waitstatus_to_exitcode(status) == 0
    assert [event.name for event in prof.events()] == ["aten::before", "aten::after"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_block_that_ends_in_a_forked_process_ends_quietly(op):
    read, write = os.pipe()
    child = None
    with profile() as prof:
        op("aten::mul")
        child = os.fork()
    if child == 0:
        os.write(write, f"{len(prof.events())}".encode())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert os.read(read, 10) == b"0"  # what was recorded belongs to the parent
    assert len(prof.events()) == 1


def test_many_short_profiles_do_not_grow(op):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def run(count):
        for _ in range(count):
            with profile() as prof:
                op("aten::mul")
            assert prof.key_averages()

    run(100)
    gc.disable()
    try:
        before = resident()
        run(1000)
        grown = resident() - before
    finally:
        gc.enable()
    assert grown < 2 << 20


# Warnings


def test_a_driver_may_count_steps_and_replace_callbacks_itself(op):
    """As Lightning does: it sets the step number and on_trace_ready before each step."""
    ready = []
    prof = profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=1))
    prof.start()
    for count in range(5):
        for _ in range(2):
            prof.on_trace_ready = lambda p: ready.append(p.step_num)
            prof.step_num = count
            op("aten::mul")
            prof.step()
    prof.stop()
    assert prof.step_num == 5 and ready == [3, 4]


def test_a_schedule_can_be_replaced():
    prof = profile()
    assert prof.schedule(0) == ProfilerAction.RECORD and not prof.record_steps
    prof.schedule = schedule(wait=2, warmup=1, active=1)
    prof.start()
    with pytest.warns(UserWarning, match="^Incorrect schedule: RECORD followed by NONE$"):
        prof.step()
    assert prof.current_action == ProfilerAction.NONE and prof.record_steps
    prof.stop()


def test_a_schedule_without_warmup_is_warned_about_at_the_users_line():
    with pytest.warns(UserWarning, match="^Profiler won't be using warmup, this can skew profiler results$") as caught:
        schedule(wait=0, warmup=0, active=1)
    assert caught[0].filename == __file__


def test_use_cuda_is_deprecated():
    with pytest.warns(FutureWarning, match="^`use_cuda` is deprecated, use `activities` argument instead$") as caught:
        profile(use_cuda=False)
    assert caught[0].filename == __file__


def test_a_warning_that_is_an_error_comes_out_of_the_call_and_leaves_the_profile_usable(op):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            schedule(wait=0, warmup=0, active=1)
    with profile() as prof:
        op("aten::mul")
    assert len(prof.events()) == 1


def test_a_warmup_that_nothing_follows_is_warned_about():
    actions = [ProfilerAction.WARMUP, ProfilerAction.NONE]
    prof = profile(schedule=lambda step: actions[step])
    prof.start()
    with pytest.warns(UserWarning, match="^Incorrect schedule: WARMUP followed by NONE$"):
        prof.step()
    prof.stop()


def test_a_negative_timeout_is_refused():
    with pytest.raises(ValueError, match="^post_processing_timeout_s must be non-negative$"):
        profile(post_processing_timeout_s=-1.0)
