"""mtprof attach: a process that runs already and has never heard of the profiler is recorded, and goes on as if nothing had happened."""

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path

import pytest
from mindtorch_v2.cli.attach.injection import Injection, once
from mindtorch_v2.cli.attach.tracing import StoppedThread, is_supported

pytestmark = pytest.mark.skipif(not is_supported(), reason="attaching is possible on x86-64 only")

PATIENCE_S = 60


def pythons():
    """This interpreter, and the others of the machine that can be attached to."""
    found = {f"{sys.version_info[0]}.{sys.version_info[1]}": sys.executable}
    for version in ("3.10", "3.11", "3.12", "3.13", "3.14"):
        for path in (shutil.which(f"python{version}"), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")):
            if path and version not in found and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
                found[version] = str(path)
    return list(found.values())


def wait_for(condition, what="the condition"):
    deadline = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.01)
    return result


@contextlib.contextmanager
def running(text, *, python=sys.executable, knows_us=False, ready=True, **options):
    """A program that runs until the block is over. It prints a line when it is ready."""
    environment = {**os.environ, "MINDTORCH_NPU": "reference"}
    if not knows_us:
        environment.pop("PYTHONPATH")
    process = subprocess.Popen(
        [python, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )
    try:
        if ready:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
        yield process
    finally:
        process.kill()
        process.communicate()


def attach(pid, *arguments, cwd=None):
    command = [sys.executable, "-m", "mindtorch_v2.profiler", "attach", str(pid), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, check=False)


def info(program, path):
    done = subprocess.run([program("mtprof"), "info", path, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


# --- A line of Python in another process ---

WAYS_TO_BE_BUSY = {
    "computes": "while True: sum(range(1000))",
    "sleeps": "import time\nwhile True: time.sleep(1000)",
    "selects": "import select, socket\na, b = socket.socketpair()\nselect.select([a], [], [])",
    "waits for a lock": "import _thread\nlock = _thread.allocate_lock()\nlock.acquire()\nlock.acquire()",
    "reads": "import os\nr, w = os.pipe()\nos.read(r, 1)",
}


@pytest.mark.parametrize("python", pythons())
@pytest.mark.parametrize("way", WAYS_TO_BE_BUSY)
def test_a_line_runs_once_in_a_process_whatever_its_main_thread_does(way, python, tmp_path):
    file, out = tmp_path / "line.py", tmp_path / "out"
    file.write_text(f"import os\nos.rename({str(file)!r}, {str(file)!r} + 'x')\nopen({str(out)!r}, 'a').write('+')\n")
    with running(f"print('ready', flush=True)\n{WAYS_TO_BE_BUSY[way]}", python=python) as process:
        injection = Injection(process.pid, once(str(file)))
        # Between "ready" and the call that it waits in, the program may be in a system call in which nothing is possible.
        wait_for(injection.ask_main_thread, "a place where the thread can be asked")
        wait_for(out.exists, "the line")
        injection.ask_main_thread()
        time.sleep(0.05)
        assert out.read_text() == "+"
        assert process.poll() is None


def test_a_thread_that_is_called_goes_on_with_its_registers_and_its_system_call(tmp_path):
    program = """
        import math, signal, sys, time
        print("ready", flush=True)
        total = 0.0
        for i in range(1, 3_000_000):
            total += math.sqrt(i) * 1.5
        began = time.monotonic()
        time.sleep(1.0)
        print(total, round(time.monotonic() - began), flush=True)
        sys.stdin.readline()
    """
    alone = 0.0
    for i in range(1, 3_000_000):
        alone += math.sqrt(i) * 1.5
    with running(program, stdin=subprocess.PIPE) as process:
        injection = Injection(process.pid, "pass")
        function = injection._functions["mmap"]
        for _ in range(300):
            with StoppedThread(process.pid, process.pid) as stopped:
                memory = stopped.call(function, 0, 4096, 1, 0x22, -1, 0)
                assert memory % 4096 == 0
                stopped.call(injection._functions["munmap"], memory, 4096)
        total, slept = process.stdout.readline().split()
        assert (float(total), int(slept)) == (alone, 1)


# --- Recording ---

EMBEDDED = """
    import mindtorch_v2 as torch
    from mindtorch_v2 import nn, optim
    model = nn.Linear(8, 8)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(4, 8)
    print("ready", flush=True)
    while True:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""

TORCH = """
    import sys, threading, torch
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10**6)
    x, y = torch.randn(16, 32), torch.randint(0, 8, (16,))
    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
LOOP = """
    step()
    print("ready", flush=True)
    while True:
        step()
        scheduler.step()
"""
LOOP_OF_ANOTHER_THREAD = """
    step()
    def work():
        while True:
            step()
            scheduler.step()
    threading.Thread(target=work, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()
"""


def test_steps_of_a_running_program_are_recorded(program, tmp_path):
    with running(EMBEDDED, knows_us=True) as process:
        done = attach(process.pid, "--steps", "3", "-o", str(tmp_path / "now.mtrec"))
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert "3 steps" in done.stderr and "mtprof report" in done.stderr
        assert process.poll() is None
    found = info(program, tmp_path / "now.mtrec")
    assert [step["number"] for step in found["steps"]] == [1, 2, 3]
    assert found["kinds"]["op"] > 10 and not found["losses"]
    assert [path.name for path in tmp_path.iterdir()] == ["now.mtrec"]


def test_interrupting_the_command_ends_the_recording_and_keeps_it(program, tmp_path):
    with running(EMBEDDED, knows_us=True) as process:
        command = [sys.executable, "-m", "mindtorch_v2.profiler", "attach", str(process.pid), "--seconds", "1000", "-o", "now.mtrec"]
        attached = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        assert "recording 1000 s" in attached.stderr.readline()
        attached.send_signal(signal.SIGINT)
        _, text = attached.communicate(timeout=60)
        assert attached.returncode == 0, text
        assert process.poll() is None
    assert info(program, tmp_path / "now.mtrec")["events"] > 0


def test_a_program_that_ends_meanwhile_leaves_what_was_recorded(program, tmp_path):
    with running(EMBEDDED, knows_us=True) as process:
        command = [sys.executable, "-m", "mindtorch_v2.profiler", "attach", str(process.pid), "--seconds", "1000", "-o", "now.mtrec"]
        attached = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        assert "recording" in attached.stderr.readline()
        partial = wait_for(lambda: next(tmp_path.glob(".now.mtrec.parts/*.partial.mtrec"), None), "the file of the recording")
        wait_for(lambda: partial.stat().st_size > 1000, "events in it")
        process.kill()
        _, text = attached.communicate(timeout=60)
        assert attached.returncode == 0 and "has ended" in text, text
    assert info(program, tmp_path / "now.mtrec")["events"] > 0


def test_a_command_that_is_killed_leaves_nothing_in_the_process(tmp_path):
    with running(EMBEDDED, knows_us=True) as process:
        command = [sys.executable, "-m", "mindtorch_v2.profiler", "attach", str(process.pid), "--seconds", "1000", "-o", "a.mtrec"]
        attached = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
        assert "recording" in attached.stderr.readline()
        attached.kill()
        attached.communicate()
        wait_for(
            lambda: attach(process.pid, "--steps", "1", "-o", "b.mtrec", cwd=tmp_path).returncode == 0, "the end of the first recording"
        )
        assert process.poll() is None


def test_attaching_again_and_again_takes_no_memory_threads_or_descriptors(tmp_path):
    def state(pid):
        status = Path(f"/proc/{pid}/status").read_text()
        threads = int(status.partition("Threads:")[2].split()[0])
        return threads, len(os.listdir(f"/proc/{pid}/fd")), len(Path(f"/proc/{pid}/maps").read_text().splitlines())

    with running(EMBEDDED, knows_us=True) as process:
        for _ in range(3):
            assert attach(process.pid, "--steps", "1", "-o", "x.mtrec", cwd=tmp_path).returncode == 0
        threads, files, maps = state(process.pid)
        for _ in range(8):
            assert attach(process.pid, "--steps", "1", "-o", "x.mtrec", cwd=tmp_path).returncode == 0
        after = state(process.pid)
        assert after[:2] == (threads, files)
        assert after[2] <= maps + 4  # arenas of the allocator may grow a little
        assert process.poll() is None


def test_a_monitor_is_left_in_the_process_and_taken_out_again(program, tmp_path):
    with running(EMBEDDED, knows_us=True) as process:
        done = attach(process.pid, "--monitor", "--folder", str(tmp_path), "--keep-last", "5")
        assert done.returncode == 0 and f"mtprof trigger {process.pid}" in done.stderr, done.stderr
        again = attach(process.pid, "--steps", "1", "-o", "x.mtrec", cwd=tmp_path)
        assert again.returncode == 1 and "one at a time" in again.stderr
        trigger = [sys.executable, "-m", "mindtorch_v2.profiler", "trigger", str(process.pid), "-o", str(tmp_path / "kept.mtrec")]
        subprocess.run(trigger, check=True, capture_output=True, timeout=60)
        assert len(info(program, tmp_path / "kept.mtrec")["steps"]) >= 1
        assert attach(process.pid, "--detach").returncode == 0
        assert "has left no monitor" in attach(process.pid, "--detach").stderr
        assert attach(process.pid, "--steps", "1", "-o", "x.mtrec", cwd=tmp_path).returncode == 0


@pytest.mark.torch
@pytest.mark.parametrize("blocked", [False, True])
def test_a_torch_program_that_never_heard_of_us_has_the_ops_of_a_profile_from_its_start(program, tmp_path, bridged_torch, blocked):
    with running(TORCH + (LOOP_OF_ANOTHER_THREAD if blocked else LOOP)) as process:
        done = attach(process.pid, "--steps", "3", "--all", "-o", "now.mtrec", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert process.poll() is None
    alone = f"""{TORCH}
    from mindtorch_v2.profiler import profile
    step()
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_modules=True) as prof:
        for _ in range(3):
            step()
            prof.step()
    prof.export_trace(sys.argv[1])
"""
    subprocess.run([sys.executable, "-c", textwrap.dedent(alone), str(tmp_path / "alone.mtrec")], check=True)

    def ops(path):
        done = subprocess.run([program("mtprof"), "table", path, "--json", "--limit", "-1"], capture_output=True, text=True, check=True)
        rows = json.loads(done.stdout)["rows"]
        return Counter({row["key"]: row["count"] for row in rows if row["key"].startswith(("aten::", "autograd::", "Optimizer.step"))})

    assert ops(tmp_path / "now.mtrec") == ops(tmp_path / "alone.mtrec")


# --- What cannot be attached to ---


def refused(pid, *arguments):
    done = attach(pid, *arguments)
    assert done.returncode == 1 and done.stdout == "" and "Traceback" not in done.stderr, done.stderr
    return done.stderr


def test_a_process_that_cannot_be_recorded_gets_a_reason():
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        assert "is it a Python program?" in refused(sleeper.pid)
        sleeper.send_signal(signal.SIGSTOP)
        wait_for(lambda: "T (stopped)" in Path(f"/proc/{sleeper.pid}/status").read_text())
        assert "kill -CONT" in refused(sleeper.pid)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert "there is no process" in refused(sleeper.pid)
    with running("import time\nprint('ready', flush=True)\nwhile True: time.sleep(1000)") as process:
        assert "threading" in refused(process.pid)


def test_a_program_that_does_not_come_back_to_python_is_given_up_and_left_alone(tmp_path):
    # PyDLL keeps the GIL for the time of the call.
    with running(
        "import ctypes, threading\nprint('ready', flush=True)\nctypes.PyDLL(None).sleep(5)\nprint('went on', flush=True)"
    ) as process:
        text = refused(process.pid, "--timeout", "1.5", "--seconds", "1")
        assert "did not run a line of Python within 1.5 s: its main thread waits in the kernel" in text
        assert process.stdout.readline() == "went on\n"
        assert process.wait(timeout=60) == 0


def test_another_release_of_python_without_the_package_is_named():
    other = [python for python in pythons() if python != sys.executable]
    if not other:
        pytest.skip("there is only one Python")
    with running("import threading, time\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)", python=other[0]) as process:
        assert "cannot import mindtorch_v2" in refused(process.pid)
        assert process.poll() is None


def test_a_process_of_another_user_is_named(monkeypatch):
    if os.geteuid() == 0:
        pytest.skip("root may trace the processes of all users")
    assert "belongs to another user" in refused(1)
