"""What a program may set on a profile, as torch's may be: options, actions, steps; subclasses; copies."""

import copy
import pickle

import pytest
from mindtorch_v2.profiler import ProfilerAction, profile, schedule
from profiles import names


def test_record_steps_makes_scopes_of_steps_and_leaves_them_out(op):
    prof = profile()
    prof.record_steps = True
    with prof:
        op("aten::mul")
    assert [event.name for event in prof.events()] == ["ProfilerStep*", "aten::mul"]
    prof = profile(schedule=schedule(wait=0, warmup=0, active=2))
    prof.record_steps = False
    with prof:
        op("aten::mul")
    assert [event.name for event in prof.events()] == ["aten::mul"]


def test_current_action_is_where_a_profile_begins_and_goes_on(op):
    ready = []
    prof = profile(schedule=schedule(wait=9, warmup=0, active=1), on_trace_ready=ready.append)
    prof.current_action = ProfilerAction.RECORD
    prof.start()
    op("aten::mul")
    prof.current_action = ProfilerAction.RECORD_AND_SAVE
    prof.step()
    assert ready == [prof] and "aten::mul" in names(prof) and prof.current_action == ProfilerAction.NONE


@pytest.mark.parametrize("option", ["record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules", "acc_events"])
def test_options_can_be_set_before_the_start(op, option):
    prof = profile()
    setattr(prof, option, 1)
    assert getattr(prof, option) is True
    with prof:
        op("aten::mul")
    assert ("stack" in prof.events()[0]) == (option == "with_stack")


def test_activities_and_their_groups_can_be_set_before_the_start(op):
    prof = profile()
    prof.activities = {"CPU"}
    prof.activity_filters = {"CPU": {"USER_ANNOTATION"}}
    with prof:
        op("aten::mul")
    assert names(prof) == []


def test_accumulating_cycles_can_be_switched_on(op):
    prof = profile()
    prof.acc_events = True
    for _ in range(2):
        with prof:
            op("aten::mul")
    assert names(prof) == ["aten::mul"] * 2


@pytest.mark.parametrize("name", ["use_device", "action_map", "profiler", "step_rec_fn", "mem_tl", "has_cudagraphs", "anything"])
def test_any_other_attribute_of_torchs_can_be_replaced(op, name):
    prof = profile()
    setattr(prof, name, "mine")
    with prof:
        op("aten::mul")
    assert getattr(prof, name) == "mine" and names(prof) == ["aten::mul"]


@pytest.mark.parametrize("step, then", [(-3, -2), (1.5, 2), (7, 8)])
def test_step_num_takes_any_number(step, then):
    with profile() as prof:
        prof.step_num = step
        prof.step()
    assert prof.step_num == then


def test_metadata_can_be_put_into_the_dictionary(op, tmp_path):
    prof = profile()
    prof.preset_metadata["job"] = '{"id": 7}'
    with prof:
        op("aten::mul")
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert '"job": {"id": 7}' in (tmp_path / "trace.json").read_text()


def test_steps_call_the_methods_of_a_subclass(op):
    class Mine(profile):
        def __init__(self, **options):
            self.calls = []
            super().__init__(**options)

        def prepare_trace(self):
            self.calls.append("prepare")
            super().prepare_trace()

        def start_trace(self):
            self.calls.append("start")
            super().start_trace()

        def stop_trace(self):
            super().stop_trace()
            self.calls.append("stop")

        def _trace_ready(self):
            self.calls.append("ready")
            super()._trace_ready()

    with Mine(schedule=schedule(wait=0, warmup=1, active=1, repeat=1)) as prof:
        prof.step()
        op("aten::mul")
        prof.step()
    assert prof.calls == ["prepare", "start", "stop", "ready"] and "aten::mul" in names(prof)


def _again(prof):
    return pickle.loads(pickle.dumps(prof))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _again])
def test_a_profile_that_has_not_recorded_can_be_copied(op, copied):
    prof = profile(activities=[{"CPU": ["CPU_OP"]}], schedule=schedule(wait=0, warmup=1, active=1), record_shapes=True)
    prof.mine = [1]
    same = copied(prof)
    assert same.mine == [1] and same.record_shapes and same.activities == prof.activities and same.record_steps
    with same:
        same.step()
        op("aten::mul")
    assert names(same) == ["aten::mul"] and prof.get_trace_id() is None


def test_a_profile_that_has_recorded_cannot_be_pickled(op):
    with profile() as prof:
        op("aten::mul")
    with pytest.raises(TypeError, match=r"pickle its events\(\)"):
        pickle.dumps(prof)
