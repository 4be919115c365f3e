"""Schedules: their numbers, the actions of each step, what is kept of each cycle, and warnings."""

import copy
import pickle
import warnings

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import ProfilerAction, profile, schedule

pytestmark = pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")


def test_a_schedule_shows_its_numbers():
    assert repr(schedule(wait=1, warmup=2, active=3)) == "schedule(wait=1, warmup=2, active=3, repeat=0, skip_first=0, skip_first_wait=0)"
    with pytest.raises(AssertionError, match="^Step must be non-negative. Got -1.$"):
        schedule(wait=1, warmup=2, active=3)(-1)
    with pytest.raises(TypeError):
        schedule(1, 2, 3)
    with pytest.raises(TypeError):
        schedule(wait=1.5, warmup=1, active=1)


def test_steps_are_scopes_if_there_is_a_schedule():
    with profile(schedule=schedule(wait=1, warmup=1, active=2)) as prof:
        for _ in range(3):
            prof.step()
    assert [event.trace_name for event in prof.events()] == ["ProfilerStep#2", "ProfilerStep#3"]
    assert [row.key for row in prof.key_averages()] == ["ProfilerStep*"]
    assert prof.record_steps


def test_the_action_map_says_which_calls_are_made():
    prof = profile(schedule=schedule(wait=1, warmup=1, active=1))
    calls = prof.action_map[ProfilerAction.RECORD_AND_SAVE, ProfilerAction.WARMUP]
    assert [call.__name__ for call in calls] == ["stop_trace", "_trace_ready", "prepare_trace"]
    assert prof.action_map[ProfilerAction.NONE, ProfilerAction.NONE] == []


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


# Rule: session.block


def test_step_advances_the_step_number():
    with profile() as prof:
        assert prof.step_num == 0
        prof.step()
        assert prof.step_num == 1


# Rule: events.mapping


def test_ops_before_the_first_step_have_step_0_and_after_it_step_1():
    x = torch.ones((2, 2))
    with profile() as prof:
        x * x
        prof.step()
        x + x
    steps = {event["name"].split("::")[-1]: event["step"] for event in prof.events() if event["kind"] == "op"}
    assert steps["mul"] == 0 and steps["add"] == 1


# Rule: session.accumulate


def test_acc_events_is_an_argument_and_an_attribute():
    assert profile().acc_events is False
    assert profile(acc_events=True).acc_events is True


# Rule: schedule.checked


@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_a_bad_schedule_is_both_kinds_of_error_with_torchs_text(kind):
    with pytest.raises(kind) as refused:
        schedule(wait=0, warmup=0, active=0)
    assert str(refused.value) == (
        "Invalid profiler schedule arguments. Got wait=0 (need >= 0), warmup=0 (need >= 0), active=0 (need > 0), "
        "repeat=0 (need >= 0), skip_first=0 (need >= 0)."
    )


# Rule: session.cycles


def test_each_cycle_has_a_trace_id_of_its_own():
    ids = []
    with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=lambda p: ids.append(p.get_trace_id())) as prof:
        for _ in range(6):
            prof.step()
    assert len(ids) == 3 == len(set(ids)) and all(len(trace_id) == 32 for trace_id in ids)


def test_without_acc_events_only_the_last_cycle_is_kept(op):
    kept = {}
    for acc_events in (False, True):
        with profile(schedule=schedule(wait=0, warmup=1, active=1, repeat=3), acc_events=acc_events) as prof:
            for _ in range(6):
                op("aten::mul")
                prof.step()
        kept[acc_events] = [event["step"] for event in prof.events() if event["kind"] == "op"]
    assert kept == {False: [5], True: [1, 3, 5]}


# Rule: schedule.own


def test_a_schedule_of_the_users_own_is_asked_once_a_step():
    asked = []

    def own(step):
        asked.append(step)
        return ProfilerAction.RECORD_AND_SAVE if step == 1 else ProfilerAction.NONE

    with profile(schedule=own) as prof:
        prof.step()
        prof.step()
    assert asked == [0, 1, 2]


def test_a_schedule_that_is_not_callable_is_refused():
    with pytest.raises(TypeError, match="schedule must be callable"):
        profile(schedule=123)


def test_a_schedule_that_returns_the_internal_state_is_refused():
    with pytest.raises(ValueError, match="DEVICE_STOPPED is set internally"):
        profile(schedule=lambda step: ProfilerAction.DEVICE_STOPPED)


def test_a_copy_of_a_schedule_is_the_schedule_itself_and_it_can_be_pickled():
    steps = schedule(wait=1, warmup=2, active=3, repeat=4, skip_first=5, skip_first_wait=6)
    assert copy.copy(steps) is steps
    assert copy.deepcopy({"steps": steps})["steps"] is steps
    restored = pickle.loads(pickle.dumps(steps))
    assert repr(restored) == repr(steps)
    assert [restored(step) for step in range(40)] == [steps(step) for step in range(40)]
