"""Wrong calls of torch's profilers and of ours: the same errors with the same texts."""

import importlib

import mindtorch_v2 as ours
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")


def outcome(call):
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    return None


def finished(module):
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        pass
    return prof


WRONG_CALLS = {
    "no activities": lambda m: m.profile(activities=[]),
    "an activity twice": lambda m: m.profile(activities=[m.ProfilerActivity.CPU, m.ProfilerActivity.CPU]),
    "bad schedule": lambda m: m.schedule(wait=-1, warmup=0, active=1),
    "negative step": lambda m: m.schedule(wait=0, warmup=1, active=1)(-1),
    "DEVICE_STOPPED": lambda m: m.profile(schedule=lambda step: m.ProfilerAction.DEVICE_STOPPED),
    "events before start": lambda m: m.profile().events(),
    "averages before start": lambda m: m.profile().key_averages(),
    "export before start": lambda m: m.profile().export_chrome_trace("x"),
    "stacks before start": lambda m: m.profile().export_stacks("x"),
    "stop before start": lambda m: m.profile().stop(),
    "start_trace before prepare": lambda m: m._KinetoProfile().start_trace(),
    "stop_trace before prepare": lambda m: m._KinetoProfile().stop_trace(),
    "stacks without with_stack": lambda m: finished(m).export_stacks("x"),
    "unknown metric": lambda m: finished(m).events().export_stacks("x", "zz"),
    "memory timeline": lambda m: finished(m).export_memory_timeline("x"),
    "memory timeline without stacks": lambda m: m.profile(record_shapes=True, profile_memory=True).export_memory_timeline("x"),
    "memory timeline before start": lambda m: m.profile(record_shapes=True, profile_memory=True, with_stack=True).export_memory_timeline(
        "x"
    ),
    "negative timeout": lambda m: m.profile(activities=[m.ProfilerActivity.CPU], post_processing_timeout_s=-1).start(),
    "unknown group of events": lambda m: m.profile(activities=[{m.ProfilerActivity.CPU: ["BOGUS"]}]).start(),
    "an activity in a dictionary twice": lambda m: m.profile(activities=[m.ProfilerActivity.CPU, {m.ProfilerActivity.CPU: []}]),
    "metadata that is no string": lambda m: finished(m).add_metadata("key", 3),
    "unknown keyword": lambda m: m.profile(no_such_argument=1),
    "positional argument": lambda m: m.profile([]),
}


WRONG_CALLS_OF_AUTOGRAD = {
    "device only": lambda m: m.profile(use_cpu=False),
    "nothing": lambda m: m.profile(use_cpu=False, use_kineto=True),
    "mtia": lambda m: m.profile(use_device="mtia"),
    "negative timeout": lambda m: m.profile(post_processing_timeout_s=-1),
    "averages of averages": lambda m: finished_of_autograd(m).key_averages().key_averages(),
    "stacks": lambda m: finished_of_autograd(m).export_stacks("x"),
    "entered again": lambda m: finished_of_autograd(m).__enter__(),
    "key seen twice": lambda m: see_twice(m.EnforceUnique()),
    "a child that is none": lambda m: m.FunctionEvent(1, "f", 1, 0, 1).append_cpu_child(None),
}


def see_twice(unique):
    unique.see(1)
    unique.see(1)


def finished_of_autograd(module):
    with module.profile() as prof:
        pass
    return prof


@pytest.mark.parametrize("name", WRONG_CALLS_OF_AUTOGRAD)
def test_wrong_calls_of_the_older_profiler_fail_as_torchs_do(name):
    call = WRONG_CALLS_OF_AUTOGRAD[name]
    modules = [importlib.import_module(f"{package}.autograd.profiler") for package in ("torch", "mindtorch_v2")]
    theirs, mine = (outcome(lambda module=module: call(module)) for module in modules)
    assert theirs is not None and mine is not None
    assert issubclass(mine[0], theirs[0])
    assert mine[1] == theirs[1]


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_wrong_calls_fail_as_torchs_do(name):
    theirs, mine = outcome(lambda: WRONG_CALLS[name](torch.profiler)), outcome(lambda: WRONG_CALLS[name](ours.profiler))
    assert theirs is not None and mine is not None
    assert issubclass(mine[0], theirs[0])
    assert mine[1] == theirs[1]
