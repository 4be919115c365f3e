"""The control socket of a monitor and the commands that use it: under attack, in crowds, and with processes that come and go."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.cli import live, trigger
from mindtorch_v2.monitor.socket import NoMonitor, ask, monitored_processes
from mindtorch_v2.profiler import monitor

PATIENCE = 120  # seconds that a test waits for another thread or process before it fails


@pytest.fixture(autouse=True)
def sockets(tmp_path, monkeypatch):
    """The folder of this user's sockets, and no other folder."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("mindtorch_v2.monitor.socket._bases", lambda: [tmp_path])
    return tmp_path / f"mindtorch-{os.geteuid()}"


@pytest.fixture
def mon(tmp_path):
    with monitor(keep_last=10, folder=tmp_path / "files", slow_steps=False, max_cost=1.0) as running:
        train(running)
        yield running


def train(mon, steps=5):
    x = torch.ones(4)
    for _ in range(steps):
        x = x * 1.0
        mon.step()


def connected(sockets):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PATIENCE)
    connection.connect(str(sockets / f"{os.getpid()}.sock"))
    return connection


def reply_to(sockets, data):
    with connected(sockets) as connection:
        connection.sendall(data)
        pieces = []
        while piece := connection.recv(1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


def steps_seen():
    return ask(os.getpid(), {"command": "status"})["metrics"]["steps"]


# --- Under attack ---


@pytest.mark.parametrize(
    "request_",
    [
        b"\n",
        b"no json\n",
        b"\xff\xfe\n",
        b"[" * 60_000 + b"\n",
        b"5\n",
        b"{}\n",
        b'{"command": "trigger", "steps": -1}\n',
        b'{"command": "trigger", "steps": "many"}\n',
        b'{"command": "trigger", "steps": 1.5}\n',
        b'{"command": "trigger", "output": 5}\n',
        b'{"command": "trigger", "output": "/none/such/x.mtrec"}\n',
        b'{"command": "trigger", "output": "a\\u0000b"}\n',
        b'{"command": "trigger", "output": "' + b"x" * 5000 + b'"}\n',
        b'{"command": ' + b"9" * 5000 + b"}\n",
        b"x" * 70_000 + b"\n",
        b"x" * 3_000_000 + b"\n",
    ],
    ids=lambda data: repr(data[:40]) + str(len(data)),
)
@pytest.mark.filterwarnings("ignore:The monitor could not write")
def test_a_request_that_makes_no_sense_is_answered(mon, sockets, request_):
    assert json.loads(reply_to(sockets, request_))["error"]
    assert steps_seen() == 5


def test_a_hundred_clients_at_once_are_all_answered(mon):
    failures = []

    def client():
        try:
            assert steps_seen() == 5
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=client) for _ in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not failures


def test_a_client_tries_again_while_the_queue_is_full(sockets):
    """As it does when more clients come at once than the kernel lets wait."""
    sockets.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as waiting:
        listener.bind(str(sockets / f"{os.getpid()}.sock"))
        listener.listen(0)
        while True:  # fill the queue
            connection = waiting.enter_context(socket.socket(socket.AF_UNIX))
            connection.setblocking(False)
            try:
                connection.connect(str(sockets / f"{os.getpid()}.sock"))
            except BlockingIOError:
                break
        with pytest.raises(TimeoutError):
            ask(os.getpid(), {"command": "status"}, timeout=0.1)

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    taken, _ = listener.accept()
                    with taken:
                        taken.settimeout(0.01)
                        with contextlib.suppress(OSError):
                            taken.recv(1000)
                            taken.sendall(b'{"metrics": {"steps": 5}}')

        server = threading.Thread(target=serve, daemon=True)
        server.start()
        assert steps_seen() == 5


def test_silent_clients_take_no_thread_and_disturb_nobody(mon, sockets):
    threads = len(os.listdir("/proc/self/task"))
    silent = [connected(sockets) for _ in range(100)]
    assert steps_seen() == 5
    assert len(os.listdir("/proc/self/task")) == threads
    for connection in silent:
        connection.close()


def test_clients_that_leave_disturb_nobody(mon, sockets):
    for data in (b"", b"half", b'{"command": "refresh"}\n'):
        for _ in range(20):
            with connected(sockets) as connection:
                connection.sendall(data)
    assert steps_seen() == 5


def test_the_mode_of_files_that_the_program_makes_meanwhile_is_its_own(tmp_path):
    modes, ends = set(), threading.Event()

    def make():
        number = 0
        while not ends.is_set():
            number += 1
            folder = tmp_path / f"folder{number}"
            folder.mkdir()
            modes.add(folder.stat().st_mode & 0o777)

    before = os.umask(0o022)
    thread = threading.Thread(target=make)
    thread.start()
    try:
        for _ in range(20):
            with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0):
                pass
    finally:
        ends.set()
        thread.join()
        os.umask(before)
    assert modes == {0o755}


# --- The descriptors of the program ---

DESCRIPTORS = """
import os, socket, sys
import mindtorch_v2 as torch
from mindtorch_v2.profiler import monitor
from mindtorch_v2.monitor.socket import ask

CONTENT = b"of the program" * 1000

def use_all_numbers():
    os.closerange(3, 200)
    files = [open(f"program{i}", "w+b", buffering=0) for i in range(20)]
    pairs = [socket.socketpair() for _ in range(5)]
    for file in files:
        file.write(CONTENT)
    return files, pairs

def check(files, pairs):
    for file in files:
        assert os.fstat(file.fileno()).st_size == len(CONTENT), "a file of the program was changed"
        file.seek(0)
        assert file.read() == CONTENT
        file.write(b"more")
    for left, right in pairs:
        right.setblocking(False)
        try:
            raise AssertionError(f"a socket of the program was ended or written: {right.recv(100)!r}")
        except BlockingIOError:
            left.sendall(b"x")
            assert right.recv(10) == b"x"

x = torch.ones(4)
with monitor(keep_last=10, folder="files", slow_steps=False, max_cost=1.0) as mon:
    for _ in range(5):
        x * 1.0
        mon.step()
    mon.trigger(wait=True)
    program = use_all_numbers()
    assert ask(os.getpid(), {"command": "status"})["metrics"]["steps"] == 5
    assert ask(os.getpid(), {"command": "trigger"})["file"]
check(*program)
del mon
import gc
gc.collect()
check([], program[1])
print("kept")
"""


def test_the_program_may_close_all_descriptors_and_use_their_numbers(tmp_path):
    done = subprocess.run([sys.executable, "-c", DESCRIPTORS], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, "kept\n"), done.stderr


def test_a_socket_that_the_program_has_closed_is_told(mon, sockets, monkeypatch):
    """It can do so only where the kernel has no separate tables (tests/base/control_socket_test.cpp)."""
    with pytest.warns(UserWarning, match="closed the control socket"):
        monkeypatch.setattr(mon._control, "is_lost", lambda: True)
        deadline = time.monotonic() + PATIENCE
        while mon._control is not None or list(sockets.iterdir()):
            assert time.monotonic() < deadline
        assert mon.trigger(wait=True).file


# --- Processes that come and go ---

LEAVES = """
import os, signal, subprocess, sys, time
from mindtorch_v2.profiler import monitor
mon = monitor(keep_last=10, slow_steps=False, max_cost=1.0, folder="files").start()
print("runs", flush=True)
sys.stdin.readline()
{how}
"""


@pytest.fixture
def process(tmp_path):
    """Starts a process with a monitor, which leaves in some way when it is told to."""
    started = []

    def start(how):
        child = subprocess.Popen(
            [sys.executable, "-c", LEAVES.format(how=how)], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(child)
        assert child.stdout.readline() == "runs\n"
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


def leave(child):
    child.stdin.write("\n")
    child.stdin.flush()


def test_sockets_of_processes_that_died_are_removed(process, sockets):
    dead, alive = process("os.kill(os.getpid(), signal.SIGKILL)"), process("pass")
    leave(dead)
    dead.wait(PATIENCE)
    assert (sockets / f"{dead.pid}.sock").exists()
    assert monitored_processes() == [alive.pid]
    assert [path.name for path in sockets.iterdir()] == [f"{alive.pid}.sock"]


def test_a_monitor_removes_what_others_have_left(process, sockets, tmp_path):
    dead = process("os._exit(0)")
    leave(dead)
    dead.wait(PATIENCE)
    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0):
        assert [path.name for path in sockets.iterdir()] == [f"{os.getpid()}.sock"]


def test_a_job_is_asked_without_processes_that_became_other_programs(process, sockets, capsys, tmp_path):
    other, alive = process("os.execv('/bin/sleep', ['sleep', '1000'])"), process("pass")
    leave(other)
    deadline = time.monotonic() + PATIENCE
    while not Path(f"/proc/{other.pid}/cmdline").read_bytes().startswith(b"sleep"):
        assert time.monotonic() < deadline
    assert trigger.main(["--job", "-o", str(tmp_path / "all")]) == 0
    assert capsys.readouterr() == (f"{tmp_path}/all/process{alive.pid}.mtrec\n", "")
    assert not (sockets / f"{other.pid}.sock").exists()


def test_a_process_that_dies_while_it_is_asked_is_told(process, capsys):
    child = process("while not mon._thread._waiting: time.sleep(0.001)\nos._exit(0)")
    leave(child)
    assert trigger.main([str(child.pid), "--after", "1000"]) == 1
    assert capsys.readouterr() == ("", f"mtprof: process {child.pid} ended before it replied\n")


def test_a_process_that_stands_still_is_given_up(process, capsys):
    child = process("pass")
    child.send_signal(signal.SIGSTOP)
    assert trigger.main([str(child.pid), "--timeout", "100ms"]) == 1
    assert "no file within 0.1 s" in capsys.readouterr().err


def test_a_monitor_that_stops_ends_the_requests_of_others(tmp_path, sockets):
    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon)
        connection = connected(sockets)
        connection.sendall(b'{"command": "trigger", "steps": 1000}\n')
        assert steps_seen() == 5
    with connection:
        reply = json.loads(connection.recv(10_000))
    assert reply.get("error") == "the monitor has ended" or Path(reply["file"]).exists()
    with pytest.raises(NoMonitor):
        steps_seen()


def test_the_folder_of_another_user_is_not_used(mon, sockets):
    sockets.chmod(0o777)
    assert monitored_processes() == []
    with pytest.raises(NoMonitor):
        steps_seen()


# --- The command line ---


@pytest.mark.parametrize("value", ["nan", "1e300", "-1", "inf", "", "0", "9" * 400, "1.2.3"])
@pytest.mark.parametrize(("command", "flag"), [(trigger, "--timeout"), (live, "--every")])
def test_times_that_make_no_sense_are_refused(capsys, command, flag, value):
    with pytest.raises(SystemExit) as left:
        command.main([str(os.getpid()), f"{flag}={value}"])
    assert left.value.code == 2
    assert flag in capsys.readouterr().err


def test_names_of_the_program_do_not_control_the_terminal(mon, capsys):
    from mindtorch_v2.profiler import record_function

    with record_function("\x1b]0;title\x07 name"):
        train(mon)
    assert live.main([str(os.getpid()), "--once", "--refresh"]) == 0
    printed = capsys.readouterr().out
    assert "name" in printed and "\x1b" not in printed and "\x07" not in printed


def test_a_view_that_nobody_reads_ends(program, mon):
    text = textwrap.dedent(
        f"""
        import sys
        from mindtorch_v2.cli import live
        sys.exit(live.main([{str(os.getpid())!r}, "--every", "1ms"]))
        """
    )
    child = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(PATIENCE) == 1
    assert child.stderr.read() == ""
    child.stderr.close()
