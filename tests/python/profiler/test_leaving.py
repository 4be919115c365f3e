"""Programs that end, and users who interrupt, while something is recorded."""

import signal
import sys

import pytest
from mindtorch_v2.capture import modules
from mindtorch_v2.profiler import ProfilerAction, profile

DAEMONS = """
import threading
from mindtorch_v2.profiler import _ExperimentalConfig, dispatch_op_enter, dispatch_op_exit, profile

warm = threading.Semaphore(0)

def work():
    for count in range(1 << 60):
        dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", (), {{}}))
        if count == 20_000:
            warm.release()

prof = profile(with_stack={stack}, record_shapes=True, experimental_config=_ExperimentalConfig(spill_path={path!r}, budget_bytes=1 << 20))
prof.start()
threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    warm.acquire()
print("leaves")
"""


@pytest.mark.parametrize("stack", [False, True])
def test_a_program_may_end_while_daemon_threads_wait_for_the_spill(run_program, tmp_path, stack):
    for run in range(4):  # about one of four ends normally if threads are unwound
        assert run_program(DAEMONS.format(stack=stack, path=str(tmp_path / f"{run}.mtrec"))) == "leaves\n"


WORKERS = """
import threading
import mindtorch_v2 as torch

warm = threading.Semaphore(0)

def square(x):
    y = torch.ones(1 << 15, requires_grad=True)
    y.register_hook(lambda gradient: gradient * 2)
    (y * x).sum().backward()

def work():
    x = torch.ones(1 << 15)
    for count in range(1 << 60):
        {statement}
        if count == 100:
            warm.release()

for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(3):
    warm.acquire()
print("leaves")
"""


@pytest.mark.parametrize("statement", ["x + x", "square(x)"])
def test_a_program_may_end_while_daemon_threads_compute(run_program, statement):
    for _ in range(2):
        assert run_program(WORKERS.format(statement=statement)) == "leaves\n"


LATE = """
import atexit

def stop():
    prof.stop()
    print([event.name for event in prof.events()], any(event.stack for event in prof.events()))

atexit.register(stop)  # before the import: it runs after what the package registered

from mindtorch_v2.profiler import dispatch_op_enter, dispatch_op_exit, profile

prof = profile(with_stack=True, with_modules=True)
prof.start()
dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", (), {}))
"""


def test_the_last_handlers_of_a_program_may_stop_a_profile(run_program):
    assert run_program(LATE) == "['aten::mul'] True\n"


def interrupted_once(function):
    """`function`, interrupted by the user when it is called first; and a list that holds one item per call."""
    calls = []

    def interrupted(*arguments):
        calls.append(function)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        function(*arguments)

    return interrupted, calls


@pytest.mark.parametrize("callback", ["start", "stop"])
def test_an_interrupt_while_a_profile_starts_or_stops_reaches_the_program(monkeypatch, op, callback):
    interrupted, calls = interrupted_once(getattr(modules, callback))
    monkeypatch.setattr(modules, callback, interrupted)
    prof = profile(with_modules=True)
    with pytest.raises(KeyboardInterrupt):
        prof.start()
        op("aten::mul")
        prof.stop()
    assert len(calls) == 2, "what was interrupted is done"
    if callback == "start":
        op("aten::mul")
        prof.stop()
    assert [event.name for event in prof.events()] == ["aten::mul"]


@pytest.mark.parametrize("callback", ["start", "stop"])
def test_what_a_callback_raises_is_raised_by_the_call_that_caused_it(monkeypatch, op, callback):
    function = getattr(modules, callback)

    def failing(*arguments):
        function(*arguments)
        raise LookupError("from a callback")

    monkeypatch.setattr(modules, callback, failing)
    prof = profile(with_modules=True)
    with pytest.raises(LookupError, match="from a callback"):
        prof.start()
        op("aten::mul")
        prof.stop()
    if callback == "start":
        prof.stop()
    with profile(with_modules=False) as after:
        op("aten::add")
    assert [event.name for event in after.events()] == ["aten::add"]


def test_an_interrupt_is_raised_rather_than_another_error(monkeypatch):
    raised = [LookupError("from the first session"), KeyboardInterrupt()]
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: unraisable.append(hook.exc_type))
    function = modules.stop

    def failing(*_):
        function()
        if raised:
            raise raised.pop(0)

    # step() stops a session and starts the next one: both of its callbacks fail.
    prof = profile(with_modules=True, schedule=lambda step: ProfilerAction.RECORD_AND_SAVE)
    prof.start()
    monkeypatch.setattr(modules, "stop", failing)
    monkeypatch.setattr(modules, "start", failing)
    with pytest.raises(KeyboardInterrupt):
        prof.step()
    assert unraisable == [LookupError], "the other error is told"
    prof.stop()


def test_an_interrupt_comes_after_the_profile_that_is_dropped(monkeypatch):
    interrupted, calls = interrupted_once(modules.stop)
    prof = profile(with_modules=True)
    prof.start()
    monkeypatch.setattr(modules, "stop", interrupted)
    with pytest.raises(KeyboardInterrupt):
        del prof
        for _ in range(1000):
            pass
    assert len(calls) == 2
