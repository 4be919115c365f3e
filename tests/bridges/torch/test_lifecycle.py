"""Starting and stopping in every awkward way: nothing crashes, leaks, or is left behind in torch.

Tests mindtorch/bridges/torch/bridge.
"""

import concurrent.futures
import gc
import resource
import signal
import threading

import pytest


@pytest.fixture
def profile(torch):
    from mindtorch_v2.profiler import profile

    return profile


def names_of(p):
    return {event.name for event in p.events()}


def test_five_hundred_profiles_leave_no_memory_behind(torch, profile, training):
    step = training("mlp")

    def rounds(count):
        for _ in range(count):
            with profile(record_shapes=True, profile_memory=True) as p:
                step()
        return p

    rounds(50)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    p = rounds(500)
    assert "aten::addmm" in names_of(p)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 * 1024  # KiB


def test_an_exception_ends_the_scopes_it_goes_through(torch, profile):
    p = profile()
    with pytest.raises(RuntimeError, match="size"), p, torch.profiler.record_function("outer"):
        torch.ones(2).add(torch.ones(3))
    events = {event.name: event for event in p.events()}
    assert events["outer"].time_range.elapsed_us() >= events["aten::add"].time_range.elapsed_us() > 0


def test_a_profile_may_run_in_a_thread(torch, profile):
    found = []

    def work():
        with profile() as p:
            torch.ones(3).sub(1)
        found.append(names_of(p))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "aten::sub" in found[0]


def test_torchs_profiler_inside_ours_sees_what_it_always_sees(torch, profile, training, read_trace, tmp_path):
    step = training("mlp")
    with torch.profiler.profile(profile_memory=True, record_shapes=True) as alone:
        step()
    with profile(profile_memory=True, record_shapes=True) as ours:
        with torch.profiler.profile(profile_memory=True, record_shapes=True) as inner:
            step()
        step()

    def seen_by(p, name):
        """Frees left out: torch also reports those of what it saw allocated in an earlier profile. Which op allocated what is left out
        too: torch tells by times in microseconds, and not always the same."""
        p.export_chrome_trace(str(tmp_path / name))
        trace = read_trace(tmp_path / name)
        return trace.count(lambda e: (e.name, e.argument("Input Dims"))), sorted(size for size in trace.memory if size > 0)

    assert seen_by(inner, "inner.json") == seen_by(alone, "alone.json")
    addmm = [e for e in ours.events() if e.name == "aten::addmm"]
    assert len(addmm) == 2 * sum(event.name == "aten::addmm" for event in alone.events()) > 0


def test_ours_inside_torchs_profiler_disturbs_neither(torch, profile, training):
    step = training("mlp")
    with torch.profiler.profile(profile_memory=True) as outer:
        step()
        with profile(profile_memory=True) as ours:
            step()
        step()
    addmm = [e for e in outer.events() if e.name == "aten::addmm"]
    assert len(addmm) == 3 * len([e for e in ours.events() if e.name == "aten::addmm"])


def test_torchs_own_code_is_told_that_a_profiler_runs_while_we_record(torch, profile):
    assert not torch.autograd._profiler_enabled()
    with profile() as p:
        assert torch.autograd._profiler_enabled()
        assert torch.autograd.profiler._is_profiler_enabled
        p.toggle_collection_dynamic(False, p.activities)
        assert torch.autograd._profiler_enabled()
    assert not torch.autograd._profiler_enabled()
    with pytest.raises(KeyError), profile():
        raise KeyError
    assert not torch.autograd._profiler_enabled()


def test_nothing_is_left_in_torch_when_nothing_records(torch, profile):
    with profile(profile_memory=True, with_modules=True):
        kept = torch.ones(1000)
    assert not torch.autograd.profiler._is_profiler_enabled
    assert not torch.nn.modules.module._global_forward_hooks
    assert not torch.nn.modules.module._global_forward_pre_hooks
    with profile(profile_memory=True) as p:
        del kept  # allocated in an earlier session: its size is known still
    assert sum(event.cpu_memory_usage for event in p.events() if event.name == "[memory]") == -4000


def test_tensors_die_when_the_program_lets_go_of_them(torch, profile):
    import weakref

    with profile(record_shapes=True, profile_memory=True):
        x = torch.ones(10)
        y = x.mul(2)
        watch = weakref.ref(y)
        del y
        assert watch() is None


def test_an_op_that_is_open_at_stop_ends_later_without_harm(torch, profile):
    scope = torch.profiler.record_function("still open")
    p = profile()
    p.start()
    scope.__enter__()
    p.stop()
    scope.__exit__(None, None, None)
    with profile() as again:
        torch.ones(1)
    assert "still open" in names_of(p)
    assert "still open" not in names_of(again)


def test_autograd_threads_that_are_alive_at_stop_do_no_harm(torch, profile):
    stop = threading.Event()

    def work():
        x = torch.ones(64, 64, requires_grad=True)
        while not stop.is_set():
            x.mm(x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        with profile(record_shapes=True, profile_memory=True) as p:
            torch.ones(100).add(1)
        assert "aten::add" in names_of(p)
    stop.set()
    for thread in threads:
        thread.join()


def test_an_operator_that_takes_the_place_of_another_is_recorded_under_its_own_name(torch, profile):
    for number in range(20):
        library = torch.library.Library("mindtorch_test", "DEF")
        library.define(f"operator_{number:04}(Tensor x) -> Tensor")
        library.impl(f"operator_{number:04}", lambda x: x.neg(), "CPU")
        operator = getattr(torch.ops.mindtorch_test, f"operator_{number:04}")
        with profile() as p:
            operator(torch.ones(2))
            operator(torch.ones(2))
        names = [event.name for event in p.events() if "operator_" in event.name]
        assert names == [f"mindtorch_test::operator_{number:04}"] * 2
        library._destroy()


def test_a_scope_may_end_on_another_thread(torch, profile):
    with profile() as p:
        scope = torch.profiler.record_function("handed over")
        scope.__enter__()
        thread = threading.Thread(target=scope.__exit__, args=(None, None, None))
        thread.start()
        thread.join()
    event = next(event for event in p.events() if event.name == "handed over")
    assert event.is_async


@pytest.mark.parametrize("callback", ["start", "stop"])
def test_an_interrupt_while_a_session_starts_or_stops_reaches_the_program(torch, profile, monkeypatch, callback):
    from mindtorch_v2.torch_bridge.annotations import Annotations

    function, calls = getattr(Annotations, callback), []

    def interrupted(self):
        calls.append(callback)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        function(self)

    p = profile()
    if callback == "stop":  # which start() calls too
        p.start()
    monkeypatch.setattr(Annotations, callback, interrupted)
    with pytest.raises(KeyboardInterrupt):
        p.stop() if callback == "stop" else p.start()
    assert len(calls) > 1, "what was interrupted is done"
    if callback == "start":
        p.stop()


def test_torchs_own_state_says_that_no_profiler_runs_while_we_record(torch, profile):
    """So that torch's profiler can be started beside ours."""
    from torch._C._autograd import _profiler_type
    from torch._C._profiler import ActiveProfilerType

    with torch.profiler.profile():
        assert _profiler_type() == ActiveProfilerType.KINETO
    with profile(profile_memory=True):
        torch.ones(1)
        assert _profiler_type() == ActiveProfilerType.NONE


def test_our_scopes_are_torchs_while_only_its_profiler_runs(torch, profile):
    """A library may import ours where the program profiles with torch's."""
    from mindtorch_v2.profiler import record_function

    @record_function("decorated")
    def decorated():
        return torch.ones(1)

    def program():
        with record_function("block", "of ours"):
            decorated()

    cpu = [torch.profiler.ProfilerActivity.CPU]
    for make in (torch.profiler.profile, profile):
        with make(activities=cpu) as prof:
            program()
        counts = {row.key: row.count for row in prof.key_averages()}
        assert counts == {"block": 1, "decorated": 1, "aten::ones": 1, "aten::empty": 1, "aten::fill_": 1}
    with torch.profiler.profile(activities=cpu) as theirs, profile(activities=cpu) as ours:
        program()
    assert "block" in names_of(ours)
    assert "block" not in names_of(theirs)

    for future in (torch.futures.Future(), concurrent.futures.Future()):
        with torch.profiler.profile(activities=cpu) as prof:
            with record_function("until done") as scope:
                done = scope._call_end_callbacks_on_future(future)
            with record_function("meanwhile"):
                pass
            future.set_result(1)
        events = {event.name: event.time_range for event in prof.events()}
        is_awaited = events["until done"].end >= events["meanwhile"].end
        assert done.done() and is_awaited == isinstance(future, torch.futures.Future)
        with pytest.raises(RuntimeError, match="can only be called once"):
            scope._call_end_callbacks_on_future(future)
