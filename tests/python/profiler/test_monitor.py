"""The flight recorder: what it keeps, when it writes, and what it costs."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.monitor.socket import ask, monitored_processes
from mindtorch_v2.profiler import monitor
from mindtorch_v2.profiler._cost import Prices

PATIENCE = 120  # seconds that a test waits for another thread or process before it fails


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def info(program):
    def read(path):
        done = subprocess.run([program("mtprof"), "info", path, "--json"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return read


@pytest.fixture(autouse=True)
def own_sockets(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def socket_path(pid):
    return Path(os.environ["XDG_RUNTIME_DIR"]) / f"mindtorch-{os.geteuid()}" / f"{pid}.sock"


def train(mon, steps):
    x = torch.ones(4)
    for _ in range(steps):
        x = x * 1.0
        mon.step()


def finished(request):
    assert request.done.wait(PATIENCE)
    assert request.error is None
    return request.file


def test_a_call_writes_the_last_steps(info, program, tmp_path):
    with monitor(keep_last=5, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon, 4)
        finished(mon.trigger())  # the monitor has learnt by now how many events a step has
        train(mon, 50)
        path = finished(mon.trigger("call"))
        written = info(path)
    numbers = [step["number"] for step in written["steps"]]
    assert numbers == list(range(numbers[0], 54)) and 5 <= len(numbers) <= 6
    assert written["metadata"]["monitor"]["reason"] == "call"
    subprocess.run([program("mtprof"), "validate", path], check=True, capture_output=True)


def test_a_window_may_be_a_time(info, tmp_path):
    with monitor(keep_last="1h", folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon, 4)
        finished(mon.trigger())
        train(mon, 20)
        written = info(finished(mon.trigger()))
    assert [step["number"] for step in written["steps"]] == list(range(24))


def test_a_second_file_shortly_after_the_first_holds_the_whole_window_too(info, program, tmp_path):
    with monitor(keep_last=30, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon, 100)
        paths = [finished(mon.trigger()), finished(mon.trigger())]
        train(mon, 1)
        paths.append(finished(mon.trigger()))
    for path, steps in zip(paths, (100, 100, 101), strict=True):
        assert [step["number"] for step in info(path)["steps"]] == list(range(steps - 30, steps))
        subprocess.run([program("mtprof"), "validate", path], check=True, capture_output=True)


def test_no_step_is_missing_while_files_are_written(info, tmp_path):
    with monitor(keep_last=2000, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        requests = []
        for _ in range(20):
            train(mon, 50)
            requests.append(mon.trigger())
        path = finished(requests[-1])
    assert [step["number"] for step in info(path)["steps"]] == list(range(1000))


def test_more_steps_may_be_waited_for(info, tmp_path):
    with monitor(keep_last=100, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon, 3)
        request = mon.trigger(steps=10)
        train(mon, 9)
        assert not request.done.is_set()
        train(mon, 1)
        assert info(finished(request))["metadata"]["monitor"]["step"] >= 13


def test_the_program_goes_on_while_a_file_is_written(tmp_path):
    writing, may_end = threading.Event(), threading.Event()

    def slow_disk(prof):
        writing.set()
        assert may_end.wait(PATIENCE)

    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0, on_trace_ready=slow_disk) as mon:
        train(mon, 5)
        request = mon.trigger()
        assert writing.wait(PATIENCE)
        train(mon, 50)
        assert mon.metrics()["steps"] == 55 and not request.done.is_set()
        may_end.set()
        assert request.done.wait(PATIENCE)


def test_a_file_that_cannot_be_written_is_told_and_recording_goes_on(tmp_path):
    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon, 3)
        with pytest.warns(UserWarning, match="could not write"):
            request = mon.trigger(output=tmp_path / "none" / "x.mtrec")
            assert request.done.wait(PATIENCE)
        assert "none" in request.error
        train(mon, 3)
        assert finished(mon.trigger())


def test_an_exception_writes_what_led_to_it(info, tmp_path):
    with pytest.raises(ZeroDivisionError), monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon, 5)
        print(1 / 0)
    (path,) = tmp_path.glob("*exception*.mtrec")
    about = info(path)["metadata"]["monitor"]
    assert about["reason"] == "exception" and "ZeroDivisionError" in about["detail"]


def test_a_signal_writes_a_file(info, tmp_path):
    before = signal.getsignal(signal.SIGUSR1)
    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0, signals=[signal.SIGUSR1]) as mon:
        train(mon, 5)
        os.kill(os.getpid(), signal.SIGUSR1)
        train(mon, 5)
    (path,) = tmp_path.glob("*signal*.mtrec")
    assert info(path)["metadata"]["monitor"]["detail"] == "SIGUSR1"
    assert signal.getsignal(signal.SIGUSR1) is before


def test_a_hang_writes_all_stacks(tmp_path):
    clock, found = Clock(), threading.Event()
    recordings = []

    def keep(prof):
        recordings.append(prof)
        found.set()

    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0, hang_after=300, clock=clock, on_trace_ready=keep) as mon:
        train(mon, 3)
        clock.now += 299
        assert not found.is_set()
        clock.now += 2
        assert found.wait(PATIENCE)
        prof = recordings[0]
    prof.export_chrome_trace(str(tmp_path / "hang.json"))
    about = json.loads((tmp_path / "hang.json").read_text())["monitor"]
    assert about["reason"] == "hang"
    assert any("test_a_hang_writes_all_stacks" in line for lines in about["stacks"].values() for line in lines)


def test_a_slow_step_writes_a_file_once(info, tmp_path):
    clock = Clock()
    with monitor(keep_last=10, folder=tmp_path, max_cost=1.0, clock=clock) as mon:
        for step in range(100):
            clock.now += 0.5 if step in (60, 61) else 0.010
            mon.step()
    (path,) = tmp_path.glob("*slow_step*.mtrec")
    assert "step 60 took 0.5" in info(path)["metadata"]["monitor"]["detail"]


def test_recording_more_than_the_bound_allows_is_thinned_out_and_told(tmp_path):
    clock = Clock()
    with monitor(keep_last=1000, folder=tmp_path, clock=clock, max_cost=0.01, slow_steps=False, control=False) as mon:
        mon.cost.prices = Prices(op=1000.0, node=1000.0)
        x = torch.ones(4)

        def steps(count):
            nonlocal x
            for _ in range(count):
                for _ in range(100):
                    x = x * 1.0
                clock.now += 0.001  # a hundred ops of a microsecond each take a tenth of it
                mon.step()

        with pytest.warns(UserWarning, match=r"one step of 1[0-9] is recorded"):
            steps(4)
            finished(mon.trigger())
        assert mon.cost.every >= 10
        steps(100)
        assert mon.metrics()["monitor_cost_share"] <= 0.0101
        assert mon.metrics()["recorded_steps_share"] <= 0.1


def test_only_the_owner_can_use_the_socket(tmp_path):
    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        path = socket_path(os.getpid())
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert monitored_processes() == [os.getpid()]
        train(mon, 2)
        assert ask(os.getpid(), {"command": "status"})["metrics"]["steps"] == 2
        with pytest.raises(RuntimeError, match="the commands are"):
            ask(os.getpid(), {"command": "shell"})
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_even_if_the_file_lets_them_in(tmp_path):
    text = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
try:
    connection.connect(sys.argv[1])
    connection.sendall(b'{"command": "status"}\\n')
    print(connection.recv(10000).decode())
except PermissionError:
    print("no permission")
"""
    python = shutil.which("python3", path="/usr/bin:/bin")
    if python is None:
        pytest.skip("there is no Python that another user may run")
    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0):
        path = socket_path(os.getpid())

        def as_another_user():
            command = [python, "-I", "-S", "-c", text, path]
            return subprocess.run(command, capture_output=True, text=True, check=True, user=65534, group=65534, extra_groups=[]).stdout

        for folder in (path.parent, *path.parents):
            if str(folder).startswith(str(tmp_path.parent.parent)):
                folder.chmod(folder.stat().st_mode | 0o011)
        assert as_another_user() == "no permission\n"
        path.chmod(0o666)
        assert "only the owner" in as_another_user()


def test_the_commands_trigger_and_live_reach_a_running_program(program, info, tmp_path):
    def mtprof(*arguments):
        return subprocess.run([program("mtprof"), *map(str, arguments)], capture_output=True, text=True, check=False)

    with monitor(keep_last=10, folder=tmp_path, slow_steps=False, max_cost=1.0) as mon:
        train(mon, 5)
        done = mtprof("trigger", os.getpid(), "-o", tmp_path / "asked.mtrec")
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == str(tmp_path / "asked.mtrec")
        assert info(tmp_path / "asked.mtrec")["metadata"]["monitor"]["reason"] == "trigger"
        train(mon, 5)
        assert mtprof("trigger", "--job", "-o", tmp_path / "all").returncode == 0
        assert (tmp_path / "all" / f"process{os.getpid()}.mtrec").exists()
        train(mon, 5)
        view = mtprof("live", os.getpid(), "--once", "--refresh")
        assert view.returncode == 0 and "steps     15" in view.stdout and "aten::mul" in view.stdout
    gone = mtprof("trigger", os.getpid())
    assert gone.returncode == 1 and "has no monitor that this user may use: its program starts one with" in gone.stderr
    nobody = mtprof("live", 2**30)  # more than any kernel numbers
    assert nobody.returncode == 1 and f"there is no process {2**30}" in nobody.stderr


KILLED = """
import sys
import mindtorch_v2 as torch
from mindtorch_v2.profiler import monitor

x = torch.ones(4)
with monitor(keep_last=200, folder=".", slow_steps=False, max_cost=1.0, control=False) as mon:
    while True:
        for _ in range(50):
            x = x * 1.0
            mon.step()
        assert mon.trigger(output="kept.mtrec", wait=True).error is None
        print("written", flush=True)
"""


@pytest.mark.parametrize("files", [1, 2, 5, 9])
def test_a_process_that_is_killed_while_it_writes_leaves_a_whole_file(program, tmp_path, files):
    process = subprocess.Popen([sys.executable, "-c", KILLED], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    for _ in range(files):
        assert process.stdout.readline() == "written\n"
    process.kill()  # at whatever moment of the next file
    process.communicate()
    done = subprocess.run([program("mtprof"), "validate", tmp_path / "kept.mtrec"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
