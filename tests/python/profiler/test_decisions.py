"""Where torch, the founding requirements and the original disagree: what was decided, a test a row."""

import threading
from itertools import pairwise

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import DeviceType, ProfilerAction, ProfilerActivity, _ExperimentalConfig, profile, record_function, schedule

pytestmark = pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")


def record(op, count=3, **options):
    with profile(**options) as prof:
        for _ in range(count):
            op("aten::mul", [2, 2])
    return prof


# events() items


def test_an_event_has_torchs_attributes_and_is_a_mapping(op):
    event = record(op).events()[0]
    assert (event.name, event["name"]) == ("aten::mul", "aten::mul")
    assert event.time_range.elapsed_us() == pytest.approx(event["duration_ns"] / 1000)


def test_an_event_cannot_be_changed(op):
    event = record(op).events()[0]
    with pytest.raises(TypeError):
        event["name"] = "other"
    with pytest.raises(AttributeError):
        event.name = "other"


def test_a_stack_that_was_not_recorded_is_not_in_the_event(op):
    assert "stack" not in record(op).events()[0]


def test_events_are_made_only_when_looked_at(op):
    events = record(op, count=1000).events()
    assert len(events) == 1000
    assert len(events[10:20]) == 10 and len(events[::100]) == 10
    assert events._items is None  # nothing above has made a list of objects
    assert events[-1] == events[999] and events[0] is not events[0]


# rows of key_averages()


def test_rows_have_torchs_attributes_and_are_not_subscriptable(op):
    row = record(op).key_averages()[0]
    assert (row.key, row.count, row.node_id, row.is_async) == ("aten::mul", 3, -1, False)
    with pytest.raises(TypeError):
        row["key"]


def test_list_behaviour_acts_on_the_rows_that_the_table_prints(op):
    with profile() as prof:
        for name in ("aten::a", "aten::b", "aten::c"):
            op(name)
    rows = prof.key_averages()
    first = rows.pop(0)
    assert first.key == "aten::a" and "aten::a" not in rows.table()
    rows.append(first)
    assert rows[-1] is first and rows.index(first) == 2 and rows.count(first) == 1
    rows.sort(key=lambda row: row.key, reverse=True)
    assert [row.key for row in rows] == ["aten::c", "aten::b", "aten::a"]
    assert rows.table().index("aten::c") < rows.table().index("aten::b")
    rows.reverse()
    rows.remove(first)
    rows.insert(0, first)
    rows.extend([])
    assert isinstance(rows.copy(), list) and rows.copy()[0] is first
    first.count = 77
    assert "77" in rows.table()
    rows.clear()
    assert len(rows) == 0 and rows.table() == ""


# device_type


def test_a_device_type_equals_its_name_and_hashes_like_it(op):
    event = record(op).events()[0]
    assert event.device_type == DeviceType.CPU == "CPU" and event.device_type != "NPU"
    assert {event["device_type"]} == {"CPU"}
    assert DeviceType.PrivateUse1 is DeviceType.NPU and DeviceType.NPU.value == 20 and str(DeviceType.CUDA) == "DeviceType.CUDA"


@pytest.mark.torch
def test_a_device_type_equals_torchs_member():
    from torch.profiler import DeviceType as torchs

    for ours, theirs in ((DeviceType.CPU, torchs.CPU), (DeviceType.NPU, torchs.PrivateUse1)):
        assert ours == theirs
    assert DeviceType.CPU != torchs.CUDA


# ProfilerActivity


def test_private_use_1_is_npu():
    assert ProfilerActivity.PrivateUse1 is ProfilerActivity.NPU


@pytest.mark.parametrize("activity", [ProfilerActivity.XPU, "MTIA", "HPU"])
def test_devices_that_nobody_watches_are_refused_with_a_reason(activity):
    with pytest.raises(ValueError, match="cannot be recorded: only CPU, CUDA and NPU have a source here"):
        profile(activities=[activity])


def test_activities_may_be_strings():
    assert profile(activities=["cpu"]).activities == {ProfilerActivity.CPU}


def test_an_unknown_activity_is_refused_by_the_constructor():
    with pytest.raises(ValueError, match="unsupported profiler activity: fpga"):
        profile(activities=["fpga"])


# bad schedule, empty activities


@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_a_bad_schedule_is_both_kinds_of_error_with_torchs_text(kind):
    with pytest.raises(kind) as refused:
        schedule(wait=0, warmup=0, active=0)
    assert str(refused.value) == (
        "Invalid profiler schedule arguments. Got wait=0 (need >= 0), warmup=0 (need >= 0), active=0 (need > 0), "
        "repeat=0 (need >= 0), skip_first=0 (need >= 0)."
    )


@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_no_activities_are_both_kinds_of_error_with_torchs_text(kind):
    with pytest.raises(kind, match="^No valid profiler activities found$"):
        profile(activities=[])


# step() without start


def test_a_step_without_start_is_an_error():
    with pytest.raises(RuntimeError, match="profiler session is not active"):
        profile().step()


# table


def test_the_table_ends_with_a_line_about_totals(op):
    assert record(op).key_averages().table().splitlines()[-1].startswith("Total keys: 1  Count: 3 calls  Lost: 0 events")


# trace categories


def test_the_trace_has_torchs_categories_and_argument_names(op, trace_of):
    with profile(record_shapes=True) as prof, record_function("scope"):
        op("aten::mul", [2, 2])
    events = {event["name"]: event for event in trace_of(prof)["traceEvents"]}
    assert events["scope"]["cat"] == "user_annotation" and events["aten::mul"]["cat"] == "cpu_op"
    args = events["aten::mul"]["args"]
    assert {"External id", "Input Dims", "input_shapes"} <= set(args) and args["Input Dims"] == args["input_shapes"]


# first element of traceEvents


def test_the_first_event_of_a_trace_is_a_complete_event_of_this_process(op, trace_of):
    import os

    first = trace_of(record(op))["traceEvents"][0]
    assert first["ph"] == "X" and first["pid"] == os.getpid()
    assert {"name", "ts", "dur", "tid"} <= set(first)


# stacks of op events


def test_stacks_are_innermost_first(op):
    def inner():
        op("aten::mul")

    def outer():
        inner()

    with profile(with_stack=True) as prof:
        outer()
    functions = [frame.rsplit(":", 1)[1] for frame in prof.events()[0].stack]
    assert functions.index("inner") < functions.index("outer") < functions.index("test_stacks_are_innermost_first")


def test_grouping_by_stack_counts_user_frames_only():
    def one():
        return torch.ones((2, 2)) * 2

    def two():
        return torch.ones((2, 2)) * 2

    with profile(with_stack=True) as prof:
        one()
        two()
    rows = [row for row in prof.key_averages(group_by_stack_n=1) if row.key.endswith("mul")]
    assert sorted(row.stack[0].rsplit(":", 1)[1] for row in rows) == ["one", "two"]


# weights in export_stacks


def test_weights_of_stacks_are_whole_microseconds_rounded_up(op, tmp_path):
    prof = record(op, count=1, with_stack=True)
    prof.export_stacks(tmp_path / "stacks.txt")
    total_ns = sum(event["duration_ns"] for event in prof.events())
    (line,) = (tmp_path / "stacks.txt").read_text().splitlines()
    assert int(line.rsplit(" ", 1)[1]) == -(-total_ns // 1000)


# on_trace_ready


def test_on_trace_ready_is_called_at_torchs_moments():
    calls = []
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=lambda p: calls.append(p.step_num)) as prof:
        for _ in range(10):
            prof.step()
    assert calls == [4, 8]


def test_on_trace_ready_is_called_at_exit_while_recording():
    calls = []
    with profile(on_trace_ready=calls.append) as prof:
        pass
    assert calls == [prof]


def test_exceptions_of_on_trace_ready_propagate():
    def boom(prof):
        raise TypeError("callback boom")

    with pytest.raises(TypeError, match="callback boom"), profile(on_trace_ready=boom):
        pass
    with profile():  # nothing was left running
        pass


# cycles


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


# threads


@pytest.mark.parametrize("all_threads", [True, False])
def test_all_threads_are_recorded_unless_the_config_says_otherwise(op, all_threads):
    with profile(experimental_config=_ExperimentalConfig(profile_all_threads=all_threads)) as prof:
        op("aten::here")
        thread = threading.Thread(target=op, args=("aten::there",))
        thread.start()
        thread.join()
    expected = {"aten::here", "aten::there"} if all_threads else {"aten::here"}
    assert {event.name for event in prof.events()} == expected


# ties


def test_of_two_events_that_start_together_the_longer_comes_first(op):
    with profile() as prof:
        for _ in range(200):
            with record_function("outer"):
                op("aten::inner")
    events = list(prof.events())
    assert all(a.start_ns < b.start_ns or a.end_ns >= b.end_ns for a, b in pairwise(events))


# actions


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


@pytest.mark.parametrize("answer", ["RECORD", 2, None])
def test_a_schedule_that_returns_something_else_is_refused(answer):
    with pytest.raises(ValueError, match="must return a ProfilerAction"):
        profile(schedule=lambda step: answer)


def test_a_schedule_that_returns_the_internal_state_is_refused():
    with pytest.raises(ValueError, match="DEVICE_STOPPED is set internally"):
        profile(schedule=lambda step: ProfilerAction.DEVICE_STOPPED)
