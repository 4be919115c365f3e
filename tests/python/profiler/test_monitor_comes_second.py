"""The program comes first: whatever happens to its monitor, it starts, runs and ends as it would alone, and says what went wrong."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.monitor import thread
from mindtorch_v2.monitor.request import Request, file_name
from mindtorch_v2.monitor.thread import MonitorThread
from mindtorch_v2.profiler import monitor, profile

PATIENCE = 120  # seconds that a test waits for another thread or process before it fails

HEAD = """
import os, signal, sys, threading, time
import mindtorch_v2 as torch
from mindtorch_v2.profiler import monitor, profile
from mindtorch_v2.profiler._cost import Prices

def train(mon, steps=5):
    x = torch.ones(4)
    for _ in range(steps):
        x = x * 1.0
        mon.step()

options = dict(keep_last=10, folder="files", slow_steps=False, max_cost=1.0)
"""


@pytest.fixture
def run(tmp_path):
    """Runs a program in a folder of its own; one that hangs fails the test."""

    def started(text, *, python=(), **environment):
        (tmp_path / "run").mkdir(exist_ok=True)
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path / "run"), **environment}
        command = [sys.executable, *python, "-c", HEAD + textwrap.dedent(text)]
        return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path, env=environment, check=False)

    return started


@pytest.fixture(autouse=True)
def own_sockets(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def files(tmp_path, reason):
    return list((tmp_path / "files").glob(f"*.{reason}.*.mtrec"))


def quiet(tmp_path, **options):
    return monitor(**{"keep_last": 10, "folder": tmp_path / "files", "slow_steps": False, "max_cost": 1.0, "control": False, **options})


def train(mon, steps=5):
    x = torch.ones(4)
    for _ in range(steps):
        x = x * 1.0
        mon.step()


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


# --- Errors on the thread of the monitor ---


def test_an_exception_leaves_the_block_also_where_warnings_are_errors(run, tmp_path):
    done = run(
        """
        with monitor(**{**options, "max_cost": 1e-9}) as mon:
            train(mon, 5)
            mon.cost.prices = Prices(op=1000.0, node=1000.0)
            assert mon.trigger(wait=True).file
            train(mon, 50)
            raise ZeroDivisionError("of the program")
        """,
        python=["-W", "error"],
    )
    assert done.returncode == 1 and "ZeroDivisionError: of the program" in done.stderr
    assert "one step of" in done.stderr, "the warning about the cost is told although it cannot be raised"
    assert files(tmp_path, "exception")


@pytest.mark.parametrize("raised", ["SystemExit(3)", "KeyboardInterrupt()", "MemoryError()", "OSError(24, 'Too many open files')"])
def test_whatever_a_handler_raises_is_told_and_the_monitor_goes_on(run, raised):
    done = run(
        f"""
        failures = [1]

        def ready(prof):
            if failures:
                failures.pop()
                raise {raised}

        with monitor(**options, on_trace_ready=ready) as mon:
            train(mon)
            first, second = mon.trigger(wait=True), mon.trigger(wait=True)
            print(first.error, "|", second.error)
        """
    )
    name = raised.partition("(")[0]
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(name) and done.stdout.endswith("| None\n")
    assert f"could not write a file (call): {name}" in done.stderr


@pytest.mark.parametrize("raised", ["SystemExit(3)", "KeyboardInterrupt()"])
def test_whatever_a_handler_of_metrics_raises_is_told_once(run, raised):
    done = run(
        f"""
        called = threading.Semaphore(0)

        def handler(metrics):
            called.release()
            raise {raised}

        with monitor(**options, handlers=[handler], metrics_every="1ms") as mon:
            train(mon)
            for _ in range(3):
                assert called.acquire(timeout=60)
            assert mon.trigger(wait=True).file
        """,
        python=["-W", "always"],
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("A handler of the monitor's metrics failed") == 1


def test_an_error_in_a_turn_of_the_thread_does_not_end_it(tmp_path, monkeypatch):
    with quiet(tmp_path) as mon:
        failed = threading.Event()

        def fail():
            failed.set()
            raise OSError(24, "Too many open files")

        monkeypatch.setattr(mon, "_calibrate", fail)
        with pytest.warns(UserWarning, match="cannot tell what it costs: OSError"):
            assert failed.wait(PATIENCE)
            assert mon.trigger(wait=True).file


def test_files_are_written_without_numbers_that_the_program_could_close(run):
    """There is not one left, and the file is written all the same: its number is of another table."""
    done = run(
        """
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        with monitor(**options) as mon:
            train(mon, 5)
            try:
                while True:
                    os.dup(0)
            except OSError:
                pass
            request = mon.trigger(wait=True)
            print(request.error, os.path.exists(request.file))
        """
    )
    assert (done.returncode, done.stdout) == (0, "None True\n"), done.stderr


def test_without_a_thread_the_program_runs_and_nobody_waits(run):
    done = run(
        """
        def no_thread(*_, **__):
            raise RuntimeError("can't start new thread")

        threading.Thread.start = no_thread
        with monitor(**options) as mon:
            train(mon)
            print(mon.trigger(wait=True).error)
        with profile():
            print("free")
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the monitor has stopped\nfree\n" and "without files and metrics" in done.stderr


# --- Waiting for what cannot come ---


def test_a_handler_that_waits_for_itself_gets_an_error(tmp_path):
    errors = []

    def ready(prof):
        try:
            mon.trigger(wait=True)
        except RuntimeError as error:
            errors.append(str(error))

    with quiet(tmp_path, on_trace_ready=ready) as mon:
        train(mon)
        assert mon.trigger(wait=True).error is None
    assert len(errors) == 1 and "wait for itself" in errors[0]


def test_a_handler_that_waits_for_itself_at_the_end_gets_an_error(tmp_path):
    errors = []

    def handler(metrics):
        try:
            mon.trigger(wait=True)
        except RuntimeError as error:
            errors.append(str(error))

    with quiet(tmp_path, handlers=[handler], metrics_every="1h") as mon:
        train(mon)
    assert len(errors) == 1 and "wait for itself" in errors[0]


def test_a_handler_may_ask_for_more_and_the_end_does_not_wait_for_it(tmp_path):
    asked = []

    def ready(prof):
        asked.append(mon.trigger("again"))

    with quiet(tmp_path, on_trace_ready=ready) as mon:
        train(mon)
        mon.trigger(wait=True)
    assert all(request.done.wait(PATIENCE) for request in asked)
    assert asked[-1].error == "the monitor has stopped"


def test_a_handler_may_stop_the_monitor(tmp_path):
    stopped = threading.Event()

    def ready(prof):
        mon.stop()
        stopped.set()

    with quiet(tmp_path, on_trace_ready=ready) as mon:
        train(mon)
        mon.trigger()
        assert stopped.wait(PATIENCE)
        mon._thread._thread.join(PATIENCE)
    with profile():  # nothing is left behind
        pass


def test_waiting_for_steps_that_the_caller_makes_itself_is_an_error(tmp_path):
    with quiet(tmp_path) as mon:
        train(mon)
        with pytest.raises(RuntimeError, match=r"steps=2, wait=True.*calls step"):
            mon.trigger(steps=2, wait=True)
        asked = mon.trigger(steps=2)
        train(mon, 2)
        assert asked.done.wait(PATIENCE) and asked.file


def test_requests_of_other_threads_end_while_the_monitor_stops(tmp_path):
    """Each of them has a file or says that the monitor has stopped, and none waits for ever."""
    requests = []

    def ask(mon, begin):
        begin.wait(PATIENCE)
        while True:
            request = mon.trigger(wait=True)
            requests.append(request)
            if request.error is not None:
                return

    for _ in range(5):
        begin = threading.Barrier(5)
        with quiet(tmp_path) as mon:
            train(mon)
            threads = [threading.Thread(target=ask, args=(mon, begin)) for _ in range(4)]
            for thread in threads:
                thread.start()
            begin.wait(PATIENCE)
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()
    assert {request.error for request in requests} <= {None, "the monitor has stopped"}
    assert all(os.path.exists(request.file) for request in requests if request.error is None)


def test_a_request_to_a_thread_that_died_ends():
    """However the thread died."""
    thread = MonitorThread(lambda request: None, lambda request: True, lambda: None, lambda: None)
    thread._run = lambda: None
    thread._thread = threading.Thread(target=thread._run)
    thread.start()
    thread._thread.join(PATIENCE)
    request = Request("call")
    thread.submit(request)
    assert thread.wait_for(request.done) and request.error == "the monitor has stopped"
    assert thread.end()


def test_a_handler_that_is_stuck_does_not_keep_the_program(tmp_path, monkeypatch):
    monkeypatch.setattr(thread, "_PATIENCE", 0.05)
    may_end = threading.Event()
    stuck = threading.Event()

    def ready(prof):
        stuck.set()
        may_end.wait(PATIENCE)

    with pytest.warns(UserWarning, match="has not ended"), quiet(tmp_path, on_trace_ready=ready) as mon:
        train(mon)
        asked = mon.trigger()
        assert stuck.wait(PATIENCE)
        assert "stuck" in mon.trigger(wait=True).error
    with profile():
        pass
    may_end.set()
    assert asked.done.wait(PATIENCE)


def test_an_interrupt_while_the_end_waits_leaves_nothing_behind(run):
    done = run(
        """
        stuck = threading.Event()

        def ready(prof):
            stuck.set()
            time.sleep(1000)

        mon = monitor(**options, on_trace_ready=ready).start()
        train(mon)
        mon.trigger()
        stuck.wait()
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            mon.stop()
        except KeyboardInterrupt:
            print("interrupted")
        with profile():
            print("free")
        """
    )
    assert (done.returncode, done.stdout) == (0, "interrupted\nfree\n"), done.stderr


# --- Forks ---

FORKED = """
with monitor(**options, signals=[signal.SIGUSR1]) as mon:
    train(mon)
    child = os.fork()
    if child == 0:
        {body}
    else:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        from mindtorch_v2.monitor.socket import ask
        print(status, ask(os.getpid(), {{"command": "status"}})["metrics"]["steps"], bool(mon.trigger(wait=True).file))
if os.getpid() != first:
    os._exit(7)
"""


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("pass", 7),  # leaves the block
        ("sys.exit(0)", 0),
        ("sys.exit(3)", 3),
        ("1 / 0", 1),
        ("train(mon); mon.stop()", 7),
        ("assert mon.trigger(wait=True).error.startswith('the monitor runs in process')", 7),
        ("os.kill(os.getpid(), signal.SIGUSR1)", -signal.SIGUSR1),
        ("mon.start(); train(mon, 20); assert mon.trigger(wait=True).file", 7),
    ],
)
def test_a_forked_child_ends_as_it_would_alone_and_the_parent_keeps_its_monitor(run, body, status):
    done = run("first = os.getpid()\n" + FORKED.format(body=body))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{status} 5 True\n"
    assert ("Error" in done.stderr) == (body == "1 / 0")


# --- Starting ---


def test_a_folder_for_sockets_that_does_not_exist_is_replaced_by_another(run):
    done = run(
        """
        with monitor(**options) as mon:
            from mindtorch_v2.monitor.socket import ask
            print(ask(os.getpid(), {"command": "status"})["pid"] == os.getpid())
        """,
        XDG_RUNTIME_DIR="/run/user/no-such-user",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_long_path_for_sockets_is_replaced_by_another(run, tmp_path):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    done = run("with monitor(**options) as mon: print('runs')", XDG_RUNTIME_DIR=str(long), TMPDIR=str(long))
    assert (done.returncode, done.stdout, done.stderr) == (0, "runs\n", "")


WITHOUT_CONTROL = """
from mindtorch_v2.monitor import socket
socket._bases = lambda: [socket.Path(os.environ["XDG_RUNTIME_DIR"])]
"""


@pytest.mark.parametrize("python", [(), ("-W", "error")])
@pytest.mark.parametrize("obstacle", ["none", "long", "foreign", "file"])
def test_a_control_socket_that_cannot_be_made_is_told_and_the_program_runs(run, tmp_path, obstacle, python):
    base = tmp_path / ("x" * 100 if obstacle == "long" else "base")
    if obstacle != "none":
        base.mkdir()
    folder = base / f"mindtorch-{os.geteuid()}"
    if obstacle == "foreign":
        folder.mkdir()
        folder.chmod(0o777)
    if obstacle == "file":
        folder.touch()
    text = WITHOUT_CONTROL + textwrap.dedent(
        """
        with monitor(**options) as mon:
            train(mon)
            assert mon.trigger(wait=True).file
        with profile():
            print("free")
        """
    )
    done = run(text, python=python, XDG_RUNTIME_DIR=str(base))
    assert (done.returncode, done.stdout) == (0, "free\n"), done.stderr
    assert done.stderr.count("goes on without `mtprof trigger` and `mtprof live`") == 1
    if obstacle == "foreign":
        assert "only this user" in done.stderr


def test_signals_asked_for_in_another_thread_are_told_and_the_program_runs(tmp_path):
    told = []

    def work():
        warns = pytest.warns(UserWarning, match="does not listen to SIGUSR1: only the main thread")
        with warns as caught, quiet(tmp_path, signals=[signal.SIGUSR1]) as mon:
            train(mon)
            assert mon.trigger(wait=True).file
        told.extend(caught)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(PATIENCE)
    assert told
    with profile():
        pass


def test_a_signal_is_not_taken_from_a_program_that_sets_its_own_handler_later(tmp_path):
    before = signal.getsignal(signal.SIGUSR1)
    try:
        with quiet(tmp_path, signals=[signal.SIGUSR1]):
            own = lambda *_: None  # noqa: E731
            signal.signal(signal.SIGUSR1, own)
        assert signal.getsignal(signal.SIGUSR1) is own
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_inside_another_profile_the_program_runs_without_a_recording(tmp_path):
    with profile() as prof:
        with pytest.warns(UserWarning, match="goes on without a recording") as told, quiet(tmp_path) as mon:
            train(mon)
            request = mon.trigger(wait=True)
        assert request.error == "RuntimeError: the monitor records nothing" and len(told) == 2
    assert any(event.name == "aten::mul" for event in prof.events())


def test_a_folder_for_files_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with quiet(tmp_path, folder=tmp_path / "file" / "below") as mon:
        train(mon)
        with pytest.warns(UserWarning, match="could not write"):
            assert mon.trigger(wait=True).error


# --- Ending ---


def test_calls_in_the_wrong_order_are_harmless_or_clear(tmp_path):
    mon = quiet(tmp_path)
    for call in (mon.step, mon.trigger):
        with pytest.raises(RuntimeError, match="not running"):
            call()
    mon.stop()
    mon.start()
    with pytest.raises(RuntimeError, match="already running"):
        mon.start()
    mon.stop()
    mon.stop()
    mon.step()
    assert mon.trigger(wait=True).error == "the monitor has stopped"
    with mon:  # it may run again
        train(mon)
        assert mon.trigger(wait=True).file


@pytest.mark.parametrize(("leave", "writes"), [("sys.exit(0)", False), ("sys.exit()", False), ("sys.exit('why')", True), ("1 / 0", True)])
def test_only_a_failure_writes_a_file_at_the_end(run, tmp_path, leave, writes):
    done = run(f"with monitor(**options) as mon:\n    train(mon)\n    {leave}")
    assert done.returncode == int(writes)
    assert len(files(tmp_path, "exception")) == int(writes)


# --- Hangs and names ---


def test_a_hang_in_the_first_step_is_noticed(tmp_path):
    now = [0.0]
    with quiet(tmp_path, hang_after="5m", clock=lambda: now[0]) as mon:
        torch.ones(3) + 1
        now[0] = 301.0
        until(lambda: mon._files)
        assert mon.metrics()["steps"] == 0
    (found,) = files(tmp_path, "hang")
    assert os.path.exists(f"{found}.stacks.txt")


@pytest.mark.parametrize("reason", ["loss/nan", "NaN in x/y", "a" * 5000, "", "..", "損", "\udcff", "a\nb\0c", "step=1.5", ValueError("x")])
def test_any_reason_makes_a_name_that_exists(tmp_path, reason):
    with quiet(tmp_path) as mon:
        train(mon)
        first, second = mon.trigger(reason, wait=True), mon.trigger(reason, wait=True)
    for request in (first, second):
        assert request.error is None
        assert os.path.isfile(request.file) and os.path.dirname(request.file) == str(tmp_path / "files")
    assert first.file != second.file


def test_names_are_short_and_hold_who_when_and_why(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    assert file_name("slow step", 12).startswith("rank3.step12.slow_step.")
    assert len(file_name("x" * 999, 10**18)) < 160
    monkeypatch.setenv("RANK", "²")
    assert not file_name("a", 1).startswith("rank")


def test_threads_with_any_name_are_in_the_stacks(tmp_path):
    now = [0.0]
    may_end = threading.Event()
    thread = threading.Thread(target=may_end.wait, name="wor\udcffker")
    thread.start()
    try:
        with quiet(tmp_path, hang_after=10, clock=lambda: now[0]) as mon:
            now[0] = 11.0
            until(lambda: mon._files and os.path.exists(mon._files[0] + ".stacks.txt"))
        assert "wor?ker" in Path(mon._files[0] + ".stacks.txt").read_text()
    finally:
        may_end.set()
        thread.join()


def test_a_program_that_changes_its_folder_keeps_its_files_together(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with quiet(tmp_path, folder="files") as mon:
        train(mon)
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert mon.trigger(wait=True).file.startswith(str(tmp_path / "files"))
