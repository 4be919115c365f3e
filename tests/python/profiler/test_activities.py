"""Activities and device types: names, members, groups of events, and devices without a source."""

import pytest
from mindtorch_v2.profiler import DeviceType, ProfilerActivity, kineto_available, profile, record_function, supported_activities
from profiles import record_ops


@pytest.mark.parametrize(
    "groups, kept",
    [(["CPU_OP"], ["aten::mul"]), (["USER_ANNOTATION"], ["scope"]), (["CPU_OP", "USER_ANNOTATION"], ["scope", "aten::mul"]), ([], [])],
)
def test_an_activity_can_be_limited_to_groups_of_events(op, groups, kept):
    with profile(activities=[{ProfilerActivity.CPU: groups}]) as prof, record_function("scope"):
        op("aten::mul")
    assert [event.name for event in prof.events()] == kept
    assert prof.activity_filters == {ProfilerActivity.CPU: set(groups)}


@pytest.mark.parametrize("name", ["BOGUS", "GPU_MEMCPY"])
def test_a_group_that_does_not_belong_to_the_activity_is_refused_with_torchs_text(name):
    with pytest.raises(RuntimeError, match=f"^Unknown or non-member activity type name: '{name}'$"):
        profile(activities=[{ProfilerActivity.CPU: [name]}])


def test_an_activity_is_given_once():
    with pytest.raises(ValueError, match="^Activity ProfilerActivity.CPU specified more than once$"):
        profile(activities=[ProfilerActivity.CPU, "cpu"])


@pytest.mark.parametrize("item", [3, None, object()])
def test_what_is_not_an_activity_is_refused(item):
    with pytest.raises(ValueError, match="unsupported profiler activity"):
        profile(activities=[item])


def test_the_cpu_is_always_supported():
    assert ProfilerActivity.CPU in supported_activities() and kineto_available() is True


# Rule: activities.equality


def test_a_device_type_equals_its_name_and_hashes_like_it(op):
    event = record_ops(op).events()[0]
    assert event.device_type == DeviceType.CPU == "CPU" and event.device_type != "NPU"
    assert {event["device_type"]} == {"CPU"}
    assert DeviceType.PrivateUse1 is DeviceType.NPU and DeviceType.NPU.value == 20 and str(DeviceType.CUDA) == "DeviceType.CUDA"


@pytest.mark.torch
def test_a_device_type_equals_torchs_member():
    from torch.profiler import DeviceType as torchs

    for ours, theirs in ((DeviceType.CPU, torchs.CPU), (DeviceType.NPU, torchs.PrivateUse1)):
        assert ours == theirs
    assert DeviceType.CPU != torchs.CUDA


@pytest.mark.torch
def test_every_device_type_equals_torchs_member_of_that_number_and_no_other():
    from torch.profiler import DeviceType as Theirs

    for theirs in Theirs.__members__.values():
        assert [mine.name for mine in DeviceType if mine == theirs] == [DeviceType(theirs.value).name]


# Rule: activities.names


def test_private_use_1_is_npu():
    assert ProfilerActivity.PrivateUse1 is ProfilerActivity.NPU


def test_every_activity_of_torch_exists():
    assert {activity.name for activity in ProfilerActivity} == {"CPU", "CUDA", "NPU", "XPU", "MTIA", "HPU"}


@pytest.mark.parametrize("activity", [ProfilerActivity.XPU, "MTIA", "HPU"])
def test_a_device_that_cannot_be_recorded_is_torchs_warning(op, activity):
    prof = profile(activities=["CPU", activity])
    with pytest.warns(UserWarning, match=r"^(XPU|MTIA|HPU) is not available, disabling \1 profiling"), prof:
        op("aten::mul")
    assert [event.name for event in prof.events()] == ["aten::mul"] and len(prof.activities) == 2


def test_nothing_that_can_be_recorded_is_torchs_error():
    prof = profile(activities=["XPU"])
    with (
        pytest.warns(UserWarning, match="XPU is not available"),
        pytest.raises(AssertionError, match="^No activities specified for the profiler$"),
    ):
        prof.start()


def test_activities_may_be_strings():
    assert profile(activities=["cpu"]).activities == {ProfilerActivity.CPU}


def test_an_unknown_activity_is_refused_by_the_constructor():
    with pytest.raises(ValueError, match="unsupported profiler activity: fpga"):
        profile(activities=["fpga"])


# Rule: schedule.checked


@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_no_activities_are_both_kinds_of_error_with_torchs_text(kind):
    with pytest.raises(kind, match="^No valid profiler activities found$"):
        profile(activities=[])
