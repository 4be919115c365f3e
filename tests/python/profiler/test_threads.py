"""Which threads a profile records, and profiles that several threads use."""

import threading

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function
from profiles import names


def test_other_threads_run_while_a_callback_waits_for_them(op):
    """A callback that waits for a thread which asks the profile something would hang if a lock were held meanwhile."""
    lengths = []

    def ready(prof):
        thread = threading.Thread(target=lambda: lengths.append(len(prof.events())))
        thread.start()
        thread.join(30)
        assert not thread.is_alive()

    with profile(on_trace_ready=ready):
        op("aten::mul")
    assert lengths == [1]


def test_threads_record_while_the_profile_starts_and_stops(op):
    done = threading.Event()

    def work():
        while not done.is_set():
            op("aten::mul")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            with profile(record_shapes=True, with_stack=True) as prof:
                op("aten::here")
            assert "aten::here" in {event.name for event in prof.events()}
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_two_threads_cannot_record_at_once(op):
    empty = []

    def second():
        with profile() as prof:
            op("aten::of_the_thread")
        empty.append(len(prof.events()))

    with profile() as prof, pytest.warns(UserWarning, match="Another profiling session is active"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        op("aten::mul")
    assert empty == [0] and len(prof.events()) == 2


# Rule: hosts.cost


def test_events_of_each_thread_carry_its_id():
    seen = []

    def work():
        seen.append(threading.get_native_id())
        with record_function("on a thread"):
            torch.ones((2, 2)) + 1

    with profile() as prof:
        with record_function("here"):
            pass
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    thread_of = {event["name"]: event["thread_id"] for event in prof.events() if event["kind"] == "scope"}
    assert thread_of == {"here": threading.get_native_id(), "on a thread": seen[0]}


# Rule: ops.which_threads


@pytest.mark.parametrize("all_threads", [True, False])
def test_all_threads_are_recorded_unless_the_config_says_otherwise(op, all_threads):
    with profile(experimental_config=_ExperimentalConfig(profile_all_threads=all_threads)) as prof:
        op("aten::here")
        thread = threading.Thread(target=op, args=("aten::there",))
        thread.start()
        thread.join()
    expected = {"aten::here", "aten::there"} if all_threads else {"aten::here"}
    assert {event.name for event in prof.events()} == expected


def test_a_profile_of_one_thread_has_the_backward_pass_that_it_starts():
    x = torch.ones((2, 2), requires_grad=True)

    def elsewhere():
        torch.ones(2) - 1

    with profile(experimental_config=_ExperimentalConfig(profile_all_threads=False)) as prof:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        (x * x).sum().backward()
    assert "MulBackward0" in names(prof) and "aten::sub" not in names(prof)


# Rule: ops.threads


def test_ops_on_plain_threads_are_recorded_with_their_memory():
    def work():
        torch.ones((64, 64)) * 2

    with profile(profile_memory=True) as prof:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    mul = next(event for event in prof.events() if event["name"].endswith("mul"))
    assert mul["cpu_memory_allocated_delta"] == 64 * 64 * 4
    assert mul["thread_id"] != threading.get_native_id()
