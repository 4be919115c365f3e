"""mtprof run: signals that it gets reach the program, once, and none ends mtprof alone."""

import os
import pty
import signal
from pathlib import Path

import pytest
from run_programs import LIMIT, until

# Notes each signal in a file and ends when it gets SIGUSR2.
PROGRAM = """
import os, signal, sys, time
import mindtorch_v2

def note(number, frame):
    with open("signals", "a") as file:
        file.write(signal.Signals(number).name + "\\n")
    if number == signal.SIGUSR2:
        sys.exit(5)

for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH", "ALRM"):
    signal.signal(getattr(signal, f"SIG{name}"), note)
if "stops" not in sys.argv:
    signal.signal(signal.SIGTSTP, note)
mindtorch_v2.ones(3)
open(f"ready-{os.getpid()}", "w").close()
while True:
    time.sleep(0.01)
"""


def program_id(folder):
    return int(until(lambda: list(folder.glob("ready-*")))[0].name.partition("-")[2])


def noted(folder):
    path = folder / "signals"
    return path.read_text().split() if path.exists() else []


def state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("name", ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGWINCH", "SIGALRM", "SIGTSTP"])
def test_a_signal_to_mtprof_alone_reaches_the_program(runs, tmp_path, name):
    (tmp_path / "train.py").write_text(PROGRAM)
    launcher = runs.start(runs.mtprof, "run", "-o", "out.mtrec", "train.py")
    program_id(tmp_path)
    launcher.send_signal(getattr(signal, name))
    until(lambda: noted(tmp_path) == [name])
    launcher.send_signal(signal.SIGUSR2)
    assert launcher.wait(LIMIT) == 5, runs.errors()
    assert noted(tmp_path) == [name, "SIGUSR2"]
    assert (tmp_path / "out.mtrec").exists() and not list(tmp_path.glob(".*.parts"))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGUSR1", "SIGQUIT", "SIGRTMIN", "SIGXCPU"])
def test_a_signal_that_the_program_does_not_handle_ends_both_with_it(runs, tmp_path, name):
    (tmp_path / "train.py").write_text("import os, time\nimport mindtorch_v2\nopen(f'ready-{os.getpid()}', 'w').close()\ntime.sleep(600)")
    launcher = runs.start(runs.mtprof, "run", "-o", "out.mtrec", "train.py")
    program_id(tmp_path)
    launcher.send_signal(getattr(signal, name))
    assert launcher.wait(LIMIT) == -getattr(signal, name), runs.errors()
    assert not list(tmp_path.glob(".*.parts"))
    assert not list(tmp_path.glob("core*"))


def test_the_program_has_the_signals_that_it_would_have_alone(runs, tmp_path):
    text = (
        "import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []), [signal.getsignal(n) for n in sorted(signal.valid_signals())])"
    )
    (tmp_path / "train.py").write_text(text)
    printed = []
    for command in (["python3", "train.py"], [runs.mtprof, "run", "--quiet", "--", "python3", "train.py"]):
        process = runs.start(*command)
        assert process.wait(LIMIT) == 0
        printed.append(runs.errors().splitlines()[0])
    assert printed[0] == printed[1]


class Terminal:
    """A terminal whose foreground job is a command."""

    def __init__(self, environment, folder, command):
        self.pid, self.keyboard = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(str(command[0]), [str(word) for word in command], environment)

    def type(self, text):
        os.write(self.keyboard, text)

    def wait(self):
        until(lambda: os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture
def terminal(runs, tmp_path):
    started = []

    def start(*command):
        started.append(Terminal(runs.environment, tmp_path, command))
        return started[-1]

    yield start
    for each in started:
        os.close(each.keyboard)


@pytest.mark.parametrize(("key", "name"), [(b"\x03", "SIGINT"), (b"\x1c", "SIGQUIT"), (b"\x1a", "SIGTSTP")])
def test_a_key_of_the_terminal_reaches_the_program_once(runs, terminal, tmp_path, key, name):
    (tmp_path / "train.py").write_text(PROGRAM)
    shell = terminal(runs.mtprof, "run", "-o", "out.mtrec", "train.py")
    pid = program_id(tmp_path)
    shell.type(key)
    until(lambda: noted(tmp_path))
    os.kill(shell.pid, signal.SIGUSR1)  # mtprof takes it after what the terminal has sent
    until(lambda: "SIGUSR1" in noted(tmp_path))
    os.kill(pid, signal.SIGUSR2)
    assert shell.wait() == 5
    assert noted(tmp_path) == [name, "SIGUSR1", "SIGUSR2"]


def test_ctrl_z_stops_mtprof_with_the_program_and_both_go_on(runs, terminal, tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    # The shell puts the job into a group of its own: the kernel stops no group whose parent is outside of the session.
    (tmp_path / "job.sh").write_text(f'set -m\n"{runs.mtprof}" run -o out.mtrec train.py stops\necho $? > stopped\nfg\necho $? > ended\n')
    shell = terminal("bash", "job.sh")
    pid = program_id(tmp_path)
    launcher = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    shell.type(b"\x1a")
    assert until(lambda: (tmp_path / "stopped").exists() and (tmp_path / "stopped").read_text()).strip() in ("147", "148")
    until(lambda: state(pid) in "SR" and state(launcher) in "SR")  # fg
    os.kill(pid, signal.SIGUSR2)
    assert until(lambda: (tmp_path / "ended").exists() and (tmp_path / "ended").read_text()).strip() == "5"
    assert (tmp_path / "out.mtrec").exists()
    shell.wait()


def test_a_program_that_is_stopped_and_continued_by_others_does_not_stop_mtprof(runs, tmp_path):
    (tmp_path / "train.py").write_text(PROGRAM)
    launcher = runs.start(runs.mtprof, "run", "-o", "out.mtrec", "train.py")
    pid = program_id(tmp_path)
    os.kill(pid, signal.SIGSTOP)
    until(lambda: state(pid) == "T")
    launcher.send_signal(signal.SIGUSR1)
    os.kill(pid, signal.SIGCONT)
    until(lambda: noted(tmp_path) == ["SIGUSR1"])
    launcher.send_signal(signal.SIGUSR2)
    assert launcher.wait(LIMIT) == 5


def test_signals_of_the_program_to_its_own_group_do_not_come_back(runs, tmp_path):
    text = PROGRAM.replace("while True", "os.kill(0, signal.SIGTERM)\nos.kill(0, signal.SIGUSR1)\nwhile True")
    (tmp_path / "train.py").write_text(text)
    launcher = runs.start(runs.mtprof, "run", "-o", "out.mtrec", "train.py")
    until(lambda: len(noted(tmp_path)) >= 2)
    launcher.send_signal(signal.SIGHUP)  # mtprof takes it after those
    until(lambda: "SIGHUP" in noted(tmp_path))
    launcher.send_signal(signal.SIGUSR2)
    assert launcher.wait(LIMIT) == 5
    assert sorted(noted(tmp_path)) == ["SIGHUP", "SIGTERM", "SIGUSR1", "SIGUSR2"]
