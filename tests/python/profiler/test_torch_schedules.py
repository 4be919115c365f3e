"""The same schedules under torch.profiler and under ours: actions, callbacks, warnings, and what is kept of cycles."""

import itertools
import random
import warnings

import mindtorch_v2 as ours
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")


def schedules():
    for wait, warmup, active, repeat, skip_first, skip_first_wait in itertools.product(
        (0, 1, 3), (0, 1, 2), (1, 2, 4), (0, 1, 2), (0, 3), (0, 1)
    ):
        yield {
            "wait": wait,
            "warmup": warmup,
            "active": active,
            "repeat": repeat,
            "skip_first": skip_first,
            "skip_first_wait": skip_first_wait,
        }


def test_schedules_say_what_torchs_say():
    for numbers in schedules():
        theirs, mine = torch.profiler.schedule(**numbers), ours.profiler.schedule(**numbers)
        assert [mine(step).name for step in range(50)] == [theirs(step).name for step in range(50)], numbers


class Log:
    """What a profile was seen to do, step by step."""

    def __init__(self, module, actions):
        self.entries = []
        names = [module.ProfilerAction[action] for action in actions]
        observer = type("Observer", (), {name: self.note(name) for name in ("start", "stop", "cleanup")})()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with module.profile(
                activities=[module.ProfilerActivity.CPU],
                schedule=lambda step: names[min(step, len(names) - 1)],
                on_trace_ready=lambda prof: self.entries.append(("ready", prof.step_num, prof.current_action.name)),
                execution_trace_observer=observer,
            ) as prof:
                for _ in names[1:]:
                    prof.step()
                    self.entries.append(("step", prof.step_num, prof.current_action.name))
        self.warnings = sorted(str(warning.message) for warning in caught if "Incorrect schedule" in str(warning.message))

    def note(self, name):
        return lambda _: self.entries.append((name,))


# What may follow an action without torch going astray: it crashes where a trace is stopped that was never prepared.
FOLLOWERS = {
    "NONE": ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"],
    "WARMUP": ["WARMUP", "RECORD", "RECORD_AND_SAVE"],
    "RECORD": ["RECORD", "RECORD_AND_SAVE", "NONE"],
    "RECORD_AND_SAVE": ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"],
}


def test_traces_start_stop_and_are_ready_when_torchs_are():
    generator = random.Random(7)
    for _ in range(20):
        actions = [generator.choice(list(FOLLOWERS))]
        for _ in range(12):
            actions.append(generator.choice(FOLLOWERS[actions[-1]]))
        mine, theirs = Log(ours.profiler, actions), Log(torch.profiler, actions)
        assert mine.entries == theirs.entries, actions
        assert mine.warnings == theirs.warnings, actions


@pytest.mark.parametrize("acc_events", [False, True])
@pytest.mark.parametrize("numbers", [(0, 1, 1, 1), (0, 1, 5, 0), (1, 2, 2, 4), (0, 0, 1, 0)])
def test_as_many_events_are_kept_over_cycles_as_torch_keeps(numbers, acc_events):
    def count(module, record_function):
        wait, warmup, active, repeat = numbers
        plan = module.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat)
        with module.profile(activities=[module.ProfilerActivity.CPU], schedule=plan, acc_events=acc_events) as prof:
            for _ in range(23):
                with record_function("counted"):
                    pass
                prof.step()
        return sum(row.count for row in prof.key_averages() if row.key == "counted")

    assert count(ours.profiler, ours.profiler.record_function) == count(torch.profiler, torch.profiler.record_function)
