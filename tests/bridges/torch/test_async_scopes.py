"""Scopes that torch marks as asynchronous have no self time, and what is around them is not charged for them."""

import threading

import mindtorch_v2.profiler
import pytest
from mindtorch_v2.profiler import profile


@pytest.fixture
def recorded(torch):
    """Events of a block in which a collective of one process runs."""
    distributed = torch.distributed
    if not distributed.is_available():
        pytest.skip("this torch has no torch.distributed")
    store = distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        with profile() as prof, torch.profiler.record_function("around"):
            work = distributed.all_reduce(torch.ones(4), async_op=True)
            work.wait()
        return prof.events()
    finally:
        distributed.destroy_process_group()


def test_a_collective_is_asynchronous_and_not_charged_to_the_scope_around_it(recorded):
    collective = next(event for event in recorded if event.name == "gloo:all_reduce")
    around = next(event for event in recorded if event.name == "around")
    assert collective.is_async
    assert collective.self_cpu_time_total == 0
    assert collective.name not in {child.name for child in around.cpu_children}
    children = sum(child.cpu_time_total for child in around.cpu_children)
    assert around.self_cpu_time_total == pytest.approx(around.cpu_time_total - children)


def test_a_scope_that_a_future_ends_on_another_thread_is_asynchronous(torch):
    from mindtorch_v2.profiler import record_function

    future = torch.futures.Future()
    with profile() as prof:
        with record_function("waits") as scope:
            done = scope._call_end_callbacks_on_future(future)
        thread = threading.Thread(target=lambda: future.set_result(1))
        thread.start()
        thread.join()
        assert done.wait() == 1
    (event,) = [event for event in prof.events() if event.name == "waits"]
    assert event.is_async
    assert event.self_cpu_time_total == 0


def test_a_call_that_ends_at_once_is_not_asynchronous(torch):
    with profile() as prof, torch.profiler.record_function("plain"):
        torch.ones(1)
    assert not any(event.is_async for event in prof.events())


def test_memory_beside_a_scope_that_has_not_ended_is_not_hidden_below_it(torch):
    def memory_outside_ops(profiler):
        kept, future = [], torch.futures.Future()
        with profiler.profile(profile_memory=True) as prof:
            kept.append(torch.ones(1000))
            with torch.profiler.record_function("waits") as scope:
                done = scope._call_end_callbacks_on_future(future)
            kept.clear()
            thread = threading.Thread(target=lambda: future.set_result(1))
            thread.start()
            thread.join()
            done.wait()
        return [event.cpu_memory_usage for event in prof.events() if event.name == "[memory]"]

    assert memory_outside_ops(torch.profiler) == []
    assert memory_outside_ops(mindtorch_v2.profiler) == [-4000]
