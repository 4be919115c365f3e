"""Profiles of programs with threads: nothing is lost, nothing waits for ever, whoever has the GIL.

Programs that could hang run in a process of their own, which is given up after a minute.
"""

import gc
import os
import subprocess
import sys
import textwrap
import threading

import pytest
from mindtorch_v2.profiler import profile, record_function


def run_program(source, **environment):
    """The output of a Python program; fails if it fails, dies or hangs."""
    prelude = "import gc, os, sys, threading\nfrom mindtorch_v2.profiler import profile, record_function\n"
    command = [sys.executable, "-X", "faulthandler", "-c", prelude + textwrap.dedent(source)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | environment, check=False)
    assert result.returncode == 0, f"exit status {result.returncode}\n{result.stdout}\n{result.stderr}"
    return result.stdout.split()


def test_threads_that_start_and_die_are_all_recorded(record):
    def work(i):
        with record_function(f"thread {i}"):
            pass

    with record() as recorded:
        for i in range(100):
            thread = threading.Thread(target=work, args=(i,))
            thread.start()
            thread.join()
    assert sorted(recorded.names()) == sorted(f"thread {i}" for i in range(100))


def test_threads_alive_before_the_profile_are_recorded(record):
    ready, go, done = threading.Event(), threading.Event(), threading.Event()

    def work():
        ready.set()
        go.wait()
        with record_function("early bird"):
            pass
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    with record() as recorded:
        go.set()
        done.wait()
    thread.join()
    assert recorded.names() == ["early bird"]


@pytest.mark.parametrize("options", ["", "with_stack=True", "record_shapes=True, with_stack=True, profile_memory=True"])
def test_profiles_come_and_go_while_other_threads_record_and_hold_the_gil(options):
    counts = run_program(f"""
        sys.setswitchinterval(1e-5)
        over = threading.Event()

        def busy():
            while not over.is_set():
                with record_function("busy"):
                    sum(range(50))

        threads = [threading.Thread(target=busy) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(30):
            with profile({options}) as prof:
                with record_function("main"):
                    sum(range(1000))
            events = prof.events()
            assert sum(event["name"] == "main" for event in events) == 1
        over.set()
        for thread in threads:
            thread.join()
        print("done")
    """)
    assert counts == ["done"]


def test_stacks_are_resolved_while_threads_wait_for_the_disk(tmp_path):
    """The spill thread needs the GIL for code that it has not seen; a thread that waits for the spill thread must not keep it."""
    output = run_program(
        f"""
        from mindtorch_v2.profiler import _ExperimentalConfig

        def busy(number):
            for i in range(100):
                scope = {{"record_function": record_function}}
                source = "def made():\\n  for _ in range(1000):\\n    with record_function('s'): pass"
                exec(compile(source, f"<{{number}} {{i}}>", "exec"), scope)
                scope["made"]()

        config = _ExperimentalConfig(spill_path={str(tmp_path / "spilled.mtrec")!r}, budget_bytes=4 << 20)
        with profile(with_stack=True, experimental_config=config) as prof:
            threads = [threading.Thread(target=busy, args=(number,)) for number in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        print(len(prof.events()) >= 300_000)
        """
    )
    assert output == ["True"]


def test_a_thread_may_stop_the_profile_that_another_started():
    output = run_program("""
        prof = profile(with_stack=True)
        prof.start()
        over = threading.Event()

        def busy():
            while not over.is_set():
                with record_function("busy"):
                    pass

        worker = threading.Thread(target=busy)
        worker.start()
        stopper = threading.Thread(target=prof.stop)
        stopper.start()
        stopper.join()
        over.set()
        worker.join()
        print(not prof.running and all(event["name"] == "busy" for event in prof.events() if event["kind"] == "scope"))
    """)
    assert output == ["True"]


def test_callbacks_run_python_while_other_threads_record():
    output = run_program("""
        over = threading.Event()

        def busy():
            while not over.is_set():
                with record_function("busy"):
                    pass

        worker = threading.Thread(target=busy)
        worker.start()
        calls = []
        with profile(schedule=lambda step: __import__("mindtorch_v2").profiler.ProfilerAction.RECORD_AND_SAVE,
                     on_trace_ready=lambda prof: calls.append(prof.step_num), with_stack=True) as prof:
            for _ in range(10):
                prof.step()
        over.set()
        worker.join()
        print(len(calls))
    """)
    assert output == ["11"]


def test_garbage_collection_may_open_and_close_scopes(record):
    class Cycle:
        def __init__(self):
            self.itself = self

        def __del__(self):
            with record_function("finalizer"):
                pass

    with record(with_stack=True) as recorded:
        for _ in range(50):
            with record_function("outer"):
                Cycle()
        gc.collect()
    assert len(recorded.named("finalizer")) == 50
    assert len(recorded.named("outer")) == 50


def test_a_collection_while_stacks_are_resolved_does_no_harm():
    output = run_program("""
        gc.set_threshold(1)
        for _ in range(5):
            with profile(with_stack=True) as prof:
                for i in range(50):
                    exec(compile(f"with record_function('s{i}'):\\n  pass", f"<{i}>", "exec"), {"record_function": record_function})
            assert len(prof.events()) == 50
        print("done")
    """)
    assert output == ["done"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork()")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_records_nothing_and_may_profile_itself():
    output = run_program("""
        with profile(with_stack=True) as prof:
            with record_function("before fork"):
                pass
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                with record_function("in child"):
                    pass
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            with record_function("after fork"):
                pass
        print(*sorted(event["name"].replace(" ", "-") for event in prof.events()))
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            with profile(with_stack=True) as own:
                with record_function("own"):
                    pass
            print(*[event["name"] for event in own.events()])
            sys.stdout.flush()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
    assert output == ["after-fork", "before-fork", "own"]


def test_a_process_may_end_while_a_profile_runs():
    assert run_program("""
        prof = profile(with_stack=True)
        prof.start()
        record_function("open").__enter__()
        print("bye")
    """) == ["bye"]


def test_a_process_may_end_while_daemon_threads_record():
    assert run_program("""
        def busy():
            while True:
                with record_function("busy"):
                    pass

        for _ in range(3):
            threading.Thread(target=busy, daemon=True).start()
        prof = profile(with_stack=True)
        prof.start()
        print("bye")
    """) == ["bye"]


def test_a_thread_may_stop_a_long_recording():
    prof = profile()
    prof.start()
    for _ in range(20_000):
        with record_function("many"):
            pass
    stopper = threading.Thread(target=prof.stop)
    stopper.start()
    stopper.join(60)
    assert not stopper.is_alive()
    assert len(prof.events()) == 20_000
