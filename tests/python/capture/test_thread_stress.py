"""Programs that do everything at once: threads that come and go, collections, forks, exports, closed generators.

Each runs in a process of its own, which is given up after two minutes; threads are switched as often as possible.
"""

import os
import subprocess
import sys
import textwrap

import pytest

PRELUDE = """
import asyncio, gc, json, os, signal, sys, threading
import mindtorch_v2 as torch
from mindtorch_v2.profiler import ProfilerAction, _ExperimentalConfig, profile, record_function, schedule
sys.setswitchinterval(1e-5)
EVERYTHING = dict(with_stack=True, record_shapes=True, profile_memory=True, with_modules=True)

def in_threads(*targets):
    failures = []
    def guarded(target):
        try:
            target()
        except BaseException as error:
            failures.append(error)
            raise
    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures

class Busy:
    '''`with Busy(work):` calls work() over and over on threads of its own.'''
    def __init__(self, *works):
        self.over, self.works = threading.Event(), works
    def __enter__(self):
        self.threads = [threading.Thread(target=self.repeat, args=(work,)) for work in self.works]
        for thread in self.threads:
            thread.start()
    def __exit__(self, *failure):
        self.over.set()
        for thread in self.threads:
            thread.join()
    def repeat(self, work):
        while not self.over.is_set():
            work()

def scopes():
    with record_function("busy"):
        sum(range(20))

def training():
    layer = torch.nn.Linear(8, 8)
    layer(torch.ones((4, 8))).sum().backward()
"""


def run_program(source, *arguments):
    """The words that a Python program prints; fails if it fails, dies or hangs."""
    command = [sys.executable, "-X", "faulthandler", "-c", PRELUDE + textwrap.dedent(source), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ, check=False)
    assert result.returncode == 0, f"exit status {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout.split()


def test_one_thread_exports_while_another_profiles(tmp_path):
    output = run_program(
        """
        with profile(**EVERYTHING) as first:
            for _ in range(20):
                training()
        expected = len(first.events())

        def export(number):
            for turn in range(6):
                path = f"{sys.argv[1]}/{number}.json"
                first.export_chrome_trace(path)
                with open(path) as file:
                    assert len(json.load(file)["traceEvents"]) > expected
                first.export_memory_timeline(f"{sys.argv[1]}/{number}.html")
                first.export_stacks(f"{sys.argv[1]}/{number}.txt")
                assert len(first.events()) == expected
                assert sum(row.count for row in first.key_averages()) == expected - 20  # calls of modules have no rows

        def record():
            for _ in range(20):
                with profile(**EVERYTHING) as prof:
                    training()
                names = [event.name for event in prof.events()]
                assert names.count("nn.Module: Linear_0") == 1, names

        in_threads(lambda: export(1), lambda: export(2), record)
        print("done")
        """,
        tmp_path,
    )
    assert output == ["done"]


def test_threads_start_and_die_while_profiles_start_and_stop():
    output = run_program(
        """
        def brief():
            threads = [threading.Thread(target=work) for work in (scopes, training, lambda: record_function("left open").__enter__())]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        with Busy(brief, brief, training):
            for _ in range(30):
                with profile(**EVERYTHING) as prof:
                    with record_function("main"):
                        training()
                names = [event.name for event in prof.events()]
                assert names.count("main") == 1, names
                assert {loss.reason for loss in prof.losses()} <= {"unfinished"}, prof.losses()
        print("done")
        """
    )
    assert output == ["done"]


def test_collections_run_and_finalizers_record_while_threads_train():
    output = run_program(
        """
        gc.set_threshold(50, 2, 2)

        class Cycle:
            def __init__(self):
                self.itself, self.layer, self.scope = self, torch.nn.Linear(2, 2), record_function("of a cycle")
                self.scope.__enter__()
            def __del__(self):
                with record_function("finalizer"):
                    torch.ones(2) * 2

        with Busy(training, Cycle, gc.collect):
            for _ in range(15):
                with profile(**EVERYTHING) as prof:
                    for _ in range(20):
                        Cycle()
                    gc.collect()
                assert len(prof.events()) > 0
                prof.key_averages(group_by_stack_n=3).table()
        print("done")
        """
    )
    assert output == ["done"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
def test_children_forked_while_threads_record_can_profile_and_export(tmp_path):
    output = run_program(
        """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)

        def child(number):
            with profile(with_stack=True) as prof:
                with record_function("in child"):
                    torch.ones(2) * 2
            assert [event.name for event in prof.events() if event["kind"] == "scope"] == ["in child"]
            prof.export_chrome_trace(f"{sys.argv[1]}/{number}.json")

        with Busy(scopes, scopes), profile(with_stack=True) as prof:
            for number in range(20):
                pid = os.fork()
                if pid == 0:
                    signal.alarm(60)  # a child that hangs must not be waited for
                    status = 1
                    try:
                        child(number)
                        status = 0
                    finally:
                        os._exit(status)
                assert os.waitpid(pid, 0)[1] == 0, number
        assert "in child" not in {event.name for event in prof.events()}
        print(len(os.listdir(sys.argv[1])))
        """,
        tmp_path,
    )
    assert output == ["20"]


def test_generators_and_scopes_are_closed_by_other_threads_than_those_that_opened_them():
    output = run_program(
        """
        import queue

        def items(number):
            with record_function(f"generator {number}"):
                yield torch.ones(2) * 2
                yield torch.ones(2) * 3

        started, count = queue.Queue(), 200

        def start():
            for number in range(count):
                iterator = items(number)
                next(iterator)
                started.put(iterator)

        def close():
            for number in range(count):
                iterator = started.get()
                if number % 3 == 0:
                    iterator.close()
                elif number % 3 == 1:
                    list(iterator)
                del iterator  # and the others are closed by this

        with profile(with_stack=True) as prof:
            in_threads(start, close)
        spans = {event.name: event for event in prof.events() if event["kind"] == "scope"}
        assert len(spans) == count
        assert all(0 <= event["duration_ns"] for event in spans.values())
        print("done")
        """
    )
    assert output == ["done"]


def test_tasks_of_an_event_loop_interleave_their_scopes(tmp_path):
    output = run_program(
        """
        async def task(number):
            with record_function(f"task {number}"):
                for _ in range(5):
                    torch.ones(2) * 2
                    await asyncio.sleep(0)
                await asyncio.to_thread(scopes)

        async def main():
            await asyncio.gather(*(task(number) for number in range(50)))

        with profile(with_stack=True) as prof:
            asyncio.run(main())
        names = [event.name for event in prof.events()]
        assert len([name for name in names if name.startswith("task")]) == 50 and names.count("busy") == 50
        assert names.count("aten::mul") == 250
        prof.export_chrome_trace(f"{sys.argv[1]}/trace.json")
        with open(f"{sys.argv[1]}/trace.json") as file:
            written = [event["name"] for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        assert len([name for name in written if name.startswith("task")]) == 50
        print("done")
        """,
        tmp_path,
    )
    assert output == ["done"]


def test_steps_and_a_stop_from_several_threads_leave_one_valid_recording():
    """Which calls come too late is a matter of luck; each either works or warns that the profile does not run."""
    output = run_program(
        """
        for turn in range(20):
            prof = profile(schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda p: len(p.events()), with_stack=True)
            prof.start()

            def step():
                for _ in range(10):
                    training()
                    prof.step()

            def stop():
                for _ in range(turn):
                    scopes()
                prof.stop()

            in_threads(step, step, stop)
            if prof.running:
                prof.stop()
            with profile() as after:
                scopes()
            assert [event.name for event in after.events()] == ["busy"]
        print("done")
        """
    )
    assert output == ["done"]


def test_signal_handlers_may_record():
    output = run_program(
        """
        handled = []

        def handler(number, frame):
            handled.append(number)
            with record_function("handler"):
                torch.ones(2) * 2

        training()  # imports the runtime, which a handler in the middle of that import would find unfinished
        signal.signal(signal.SIGALRM, handler)
        with profile(**EVERYTHING) as prof:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            while len(handled) < 50:
                with record_function("main"):
                    training()
            signal.setitimer(signal.ITIMER_REAL, 0)
        names = [event.name for event in prof.events()]
        assert names.count("handler") == len(handled), (names.count("handler"), len(handled))
        print("done")
        """
    )
    assert output == ["done"]
