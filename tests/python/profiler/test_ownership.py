"""Profiles that are dropped, collected or forked, and many of them in a row."""

import gc
import os
import warnings
import weakref

import pytest
from mindtorch_v2.profiler import profile


def test_an_unfinished_profile_that_is_dropped_stops_recording(op):
    prof = profile()
    prof.start()
    dropped = weakref.ref(prof)
    with pytest.warns(ResourceWarning, match="never stopped"):
        del prof
        gc.collect()
    assert dropped() is None
    with profile() as second:
        op("aten::mul")
    assert len(second.events()) == 1


def test_a_profile_that_refers_to_itself_is_collected():
    prof = profile()
    prof.on_trace_ready = lambda _, own=prof: own
    dropped = weakref.ref(prof)
    del prof
    gc.collect()
    assert dropped() is None


def test_events_outlive_their_profile(op):
    with profile() as prof:
        op("aten::mul")
    events = prof.events()
    event = events[0]
    del prof
    gc.collect()
    assert event.name == events[0].name == "aten::mul"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_can_record_while_its_parent_goes_on(op):
    with profile() as prof:
        op("aten::before")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
            child = os.fork()
        if child == 0:
            try:
                with profile() as own:
                    op("aten::child")
                os._exit(0 if [event.name for event in own.events()] == ["aten::child"] else 1)
            except BaseException:
                os._exit(2)
        _, status = os.waitpid(child, 0)
        op("aten::after")
    assert os.waitstatus_to_exitcode(status) == 0
    assert [event.name for event in prof.events()] == ["aten::before", "aten::after"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_block_that_ends_in_a_forked_process_ends_quietly(op):
    read, write = os.pipe()
    child = None
    with profile() as prof:
        op("aten::mul")
        child = os.fork()
    if child == 0:
        os.write(write, f"{len(prof.events())}".encode())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert os.read(read, 10) == b"0"  # what was recorded belongs to the parent
    assert len(prof.events()) == 1


def test_many_short_profiles_do_not_grow(op):
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def run(count):
        for _ in range(count):
            with profile() as prof:
                op("aten::mul")
            assert prof.key_averages()

    run(100)
    gc.disable()
    try:
        before = resident()
        run(1000)
        grown = resident() - before
    finally:
        gc.enable()
    assert grown < 2 << 20
