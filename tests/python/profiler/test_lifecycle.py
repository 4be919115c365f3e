"""The life of a profile: start, stop, its parts and attributes."""

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import ProfilerAction, ProfilerActivity, _KinetoProfile, profile, supported_activities
from profiles import names

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


def test_a_block_that_was_stopped_inside_ends_quietly():
    with profile() as prof:
        prof.stop()


def test_the_exception_of_a_block_comes_out_of_it(op):
    with pytest.raises(KeyError), profile() as prof:
        op("aten::mul")
        raise KeyError
    assert len(prof.events()) == 1


# Rule: session.parts
def test_the_parts_of_start_and_stop_can_be_called_alone(op):
    prof = _KinetoProfile()
    prof.prepare_trace()
    op("aten::too_early")
    prof.start_trace()
    op("aten::mul")
    prof.stop_trace()
    assert [event.name for event in prof.events()] == ["aten::mul"]


# Rule: names.attributes
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


def test_use_cuda_is_deprecated():
    with pytest.warns(FutureWarning, match="^`use_cuda` is deprecated, use `activities` argument instead$") as caught:
        profile(use_cuda=False)
    assert caught[0].filename == __file__


# Rule: session.block


def test_the_block_starts_and_stops_collection_and_events_work_after_it():
    before = torch.ones((2, 2))
    with profile() as prof:
        before * before
    before + before
    assert any("mul" in name for name in names(prof))
    assert not any("add" in name for name in names(prof))
