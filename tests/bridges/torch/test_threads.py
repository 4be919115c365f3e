"""Ops and memory of all threads, and of autograd's."""

import itertools
import json
import os
import threading
import time
from collections import Counter

import pytest


def profiled(program, **options):
    from mindtorch_v2.profiler import profile

    with profile(activities=["cpu"], **options) as p:
        program()
    return p


def test_ops_of_plain_threads_are_recorded_with_their_memory(torch):
    def work():
        for _ in range(10):
            torch.ones(256, 4).mul(2)

    def program():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    events = [event for event in profiled(program, profile_memory=True).events() if event.name == "aten::mul"]
    assert Counter(event.thread for event in events) == Counter({event.thread: 10 for event in events})
    assert len({event.thread for event in events}) == 4
    assert {event.cpu_memory_usage for event in events} == {4096}


def test_threads_that_were_alive_before_the_profile_are_recorded(torch):
    go, done, stop = threading.Event(), threading.Event(), threading.Event()

    def work():
        go.wait()
        torch.ones(8).add(1)
        done.set()
        stop.wait()

    thread = threading.Thread(target=work)
    thread.start()

    def program():
        go.set()
        done.wait()

    names = [event.name for event in profiled(program).events()]
    stop.set()
    thread.join()
    assert "aten::add" in names


def ends_well(child, seconds=120):
    """Waits for a child process. Kills one that takes longer."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.0005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return False


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_frees_what_its_parent_has_allocated_while_others_allocate(torch):
    """Also what a thread that the child does not have was just doing must not stop it."""

    def program():
        kept, stop = [torch.ones(16) for _ in range(64)], threading.Event()

        def work():
            while not stop.is_set():
                torch.ones(16)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(300):
                child = os.fork()
                if child == 0:
                    kept.clear()
                    os._exit(0)
                assert ends_well(child)
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    profiled(program, profile_memory=True)


@pytest.mark.parametrize(("workers", "iterator"), [(0, "_SingleProcessDataLoaderIter"), (2, "_MultiProcessingDataLoaderIter")])
def test_the_fetching_of_a_dataloader_is_recorded_as_torch_records_it(torch, workers, iterator):
    """Of worker processes, what the main process does to get their batches."""
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(8.0)), batch_size=2, num_workers=workers)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
        list(loader)
    names = Counter(event.name for event in profiled(lambda: list(loader)).events())
    assert names == Counter(event.name for event in theirs.events())
    assert names[f"enumerate(DataLoader)#{iterator}.__next__"] == 5
    assert (names["aten::stack"] == 4) == (workers == 0)


def test_memory_that_another_thread_frees_is_reported_there(torch, tmp_path, read_trace):
    def program():
        box = [torch.ones(1024)]
        thread = threading.Thread(target=box.clear)
        thread.start()
        thread.join()

    p = profiled(program, profile_memory=True)
    p.export_chrome_trace(str(tmp_path / "trace.json"))
    assert sorted(read_trace(tmp_path / "trace.json").memory) == [-4096, 4096]


def test_reports_of_several_threads_are_in_the_order_of_their_total(torch, tmp_path):
    def work():
        for _ in range(1000):
            torch.empty(1024)

    def program():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    profiled(program, profile_memory=True).export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    reports = [event["args"] for event in sorted((e for e in events if e["name"] == "[memory]"), key=lambda e: e["ts"])]
    assert len(reports) >= 8000
    for one, next_one in itertools.pairwise(reports):
        assert one["Total Allocated"] + next_one["Bytes"] == next_one["Total Allocated"]


def test_one_thread_and_what_it_feeds_can_be_asked_for(torch):
    from mindtorch_v2.profiler import _ExperimentalConfig

    def program():
        thread = threading.Thread(target=lambda: torch.ones(4).neg())
        thread.start()
        thread.join()
        x = torch.ones(4, requires_grad=True)
        x.mul(2).sum().backward()

    names = {event.name for event in profiled(program, experimental_config=_ExperimentalConfig(profile_all_threads=False)).events()}
    assert "aten::neg" not in names
    assert {"aten::mul", "MulBackward0"} <= names


def by_torch_and_ours(torch, program, tmp_path, read_trace, **options):
    """What torch.profiler and ours record of a program: the names of its ops, and sizes of memory."""
    import mindtorch_v2.profiler

    recorded = []
    for profiler in (torch.profiler, mindtorch_v2.profiler):
        with profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options) as p:
            program()
        p.export_chrome_trace(str(tmp_path / "trace.json"))
        recorded.append(({event.name for event in p.events()}, sorted(read_trace(tmp_path / "trace.json").memory)))
    return recorded


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_torch_records_one_thread_and_what_it_feeds_and_ours_all_threads(torch, tmp_path, read_trace):
    def program():
        in_a_thread(lambda: torch.ones(4).neg())
        torch.ones(4, requires_grad=True).mul(2).sum().backward()

    (theirs, _), (ours, _) = by_torch_and_ours(torch, program, tmp_path, read_trace)
    assert "aten::neg" in ours - theirs
    assert {"aten::mul", "MulBackward0"} <= ours & theirs


def test_torch_has_no_memory_of_other_threads_and_ours_has(torch, tmp_path, read_trace):
    def program():
        in_a_thread(lambda: torch.ones(1024))
        box = [torch.ones(512)]
        in_a_thread(box.clear)

    (_, theirs), (_, ours) = by_torch_and_ours(torch, program, tmp_path, read_trace, profile_memory=True)
    assert theirs == [2048]
    assert ours == [-4096, -2048, 2048, 4096]
