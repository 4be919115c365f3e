"""What dynolog's daemon asks for: the protocol, when traces begin and end, and who records them. Tests mindtorch_v2/monitor/daemon.py."""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from dataclasses import dataclass

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.monitor.daemon import Daemon, Link, Wish, parse_wish
from mindtorch_v2.profiler import monitor

PATIENCE = 60  # seconds that a test waits for another thread or process before it fails

BY_TIME = "ACTIVITIES_LOG_FILE={folder}/trace.json\nPROFILE_START_TIME=0\nACTIVITIES_DURATION_MSECS={ms}"
BY_STEPS = (
    "ACTIVITIES_LOG_FILE={folder}/trace.json\nPROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP={round_up}\n"
    "ACTIVITIES_ITERATIONS={steps}"
)


class FakeDaemon:
    """Answers as dynolog's daemon does, whose protocol is read here a second time: sizes and fields are those of its C++ structures."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.settimeout(0.05)
        self.wishes, self.contexts, self.questions = [], [], []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()
        self._socket.close()

    def _run(self):
        while not self._over.is_set():
            try:
                message, sender = self._socket.recvfrom(65536)
            except TimeoutError:
                continue
            size, kind = struct.unpack_from("=Q32s", message)
            content = message[40:]
            assert len(content) == size
            kind = kind.rstrip(b"\0")
            if kind == b"ctxt":
                gpu, pid, job = struct.unpack("=iiq", content)
                self.contexts.append((gpu, pid, job))
                answer = struct.pack("=i", len(self.contexts))
            else:
                asked, count, job = struct.unpack_from("=iiq", content)
                self.questions.append((asked, job, struct.unpack_from(f"={count}i", content, 16)))
                answer = self.wishes.pop().encode() if self.wishes else b""
            self._socket.sendto(struct.pack("=Q32s", len(answer), kind) + answer, sender)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    sockets = tempfile.mkdtemp()  # the path of a socket must be short
    monkeypatch.setenv("KINETO_IPC_SOCKET_DIR", sockets)
    monkeypatch.setenv("KINETO_ONDEMAND_TRACE_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    yield tmp_path
    shutil.rmtree(sockets)


def endpoint():
    return os.path.join(os.environ["KINETO_IPC_SOCKET_DIR"], "dynolog")


@pytest.fixture
def daemon(folder):
    with FakeDaemon(endpoint()) as daemon:
        yield daemon


def awaited(condition):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def read_trace(path):
    awaited(path.exists)  # a trace appears whole
    return json.loads(path.read_text())["traceEvents"]


# --- The protocol ---


def test_a_link_says_who_it_is_and_gets_the_wish(daemon, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    monkeypatch.setenv("LOCAL_RANK", "3")
    link = Link()
    assert link.ask() == ""
    daemon.wishes.append("A=1\nB=2")
    assert link.ask() == "A=1\nB=2"
    assert link.ask() == ""
    assert daemon.contexts == [(3, os.getpid(), 77)]
    asked, job, processes = daemon.questions[0]
    assert (asked, job) == (2, 77)
    assert processes[:2] == (os.getpid(), os.getppid())
    assert os.listdir(os.environ["KINETO_IPC_SOCKET_DIR"]) == ["dynolog"]  # nothing of ours is left


def test_a_link_talks_to_abstract_sockets(monkeypatch):
    monkeypatch.delenv("KINETO_IPC_SOCKET_DIR", raising=False)
    name = f"dynolog-test-{os.getpid()}"
    with FakeDaemon(f"\0{name}\0") as daemon:
        daemon.wishes.append("A=1")
        assert Link(name).ask() == "A=1"


def test_a_link_finds_a_daemon_that_comes_later_or_again(folder):
    link = Link()
    assert link.ask() == ""
    path = endpoint()
    for _ in range(2):
        with FakeDaemon(path) as daemon:
            daemon.wishes.append("A=1")
            assert link.ask() == "A=1"
            assert daemon.contexts
        os.unlink(path)
        assert link.ask() == ""


@pytest.mark.parametrize("answer", [b"", b"x", struct.pack("=Q32s", 1 << 60, b"req"), struct.pack("=Q32s", 4, b"ctxt") + b"A=1\n"])
def test_a_broken_answer_is_none(folder, answer):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server.bind(endpoint())
    over = threading.Event()

    def serve():
        while not over.is_set():
            _, sender = server.recvfrom(65536)
            server.sendto(answer, sender)

    threading.Thread(target=serve, daemon=True).start()
    assert Link().ask() == ""
    over.set()


# --- Wishes ---


def test_a_wish_by_time(folder):
    text = BY_TIME.format(folder=folder, ms=250) + "\nPROFILE_REPORT_INPUT_SHAPES=true\nPROFILE_WITH_STACK=false\nREQUEST_TRACE_ID=5\n# A=B"
    wish = parse_wish(text)
    assert (wish.path, wish.starts_at, wish.seconds, wish.steps) == (f"{folder}/trace_{os.getpid()}.json", 0, 0.25, 0)
    assert [name for name, wanted in wish.options.items() if wanted] == ["record_shapes"]


def test_a_wish_by_steps(folder):
    wish = parse_wish(BY_STEPS.format(folder=folder, round_up=100, steps=5))
    assert (wish.steps, wish.begins_with(2010), wish.begins_with(0)) == (5, 2100, 100)
    assert Wish("x", steps=1).begins_with(7) == 8
    assert Wish("x", steps=1, first_step=50).begins_with(7) == 50


@pytest.mark.parametrize(
    "text, says",
    [
        ("ACTIVITIES_LOG_FILE=/etc/trace.json", "KINETO_ONDEMAND_TRACE_DIR"),
        ("ACTIVITIES_LOG_FILE={folder}/../trace.json", "KINETO_ONDEMAND_TRACE_DIR"),
        ("ACTIVITIES_DURATION_MSECS=soon", "ACTIVITIES_DURATION_MSECS must be a whole number, got 'soon'"),
        ("ACTIVITIES_DURATION_MSECS=0", "at least 1"),
        ("PROFILE_START_ITERATION=0\nACTIVITIES_ITERATIONS=-4", "ACTIVITIES_ITERATIONS must be at least 1, got -4"),
    ],
)
def test_a_wish_that_cannot_be_served_says_why(folder, text, says):
    with pytest.raises(ValueError, match=says):
        parse_wish(text.format(folder=folder))


# --- When traces begin and end ---


@dataclass
class Told:
    calls: list
    fails: str = ""
    steps: int = 0

    def begin(self, wish):
        self._note("begin")

    def step(self):
        self.steps += 1

    def end(self, wish):
        self._note("end")

    def _note(self, what):
        if what == self.fails:
            raise RuntimeError("no")
        self.calls.append(what)


class Scene:
    def __init__(self, *texts, fails=""):
        self.told, self.now, self.texts = Told([], fails), 100.0, list(texts)
        self.daemon = Daemon(self.told, lambda: self.texts.pop(0) if self.texts else "", lambda: self.now)

    def turn(self, now):
        self.now = now
        self.daemon.turn()
        return self.told.calls


def test_a_trace_by_time_begins_when_it_is_due(folder):
    scene = Scene(f"ACTIVITIES_LOG_FILE={folder}/t.json\nPROFILE_START_TIME=102000\nACTIVITIES_DURATION_MSECS=500")
    assert scene.turn(100.0) == []
    assert scene.daemon._pause() == 1.0
    assert scene.turn(101.8) == []
    assert scene.daemon._pause() == pytest.approx(0.2)
    assert scene.turn(102.0) == ["begin"]
    assert scene.daemon._pause() == pytest.approx(0.5)
    assert scene.turn(102.4) == ["begin"]
    assert scene.turn(102.5) == ["begin", "end"]
    assert scene.turn(110.0) == ["begin", "end"]


def test_a_recorder_gets_the_steps_of_its_trace(folder):
    scene = Scene(BY_TIME.format(folder=folder, ms=500))
    scene.daemon.stepped(1)
    scene.turn(100.0)
    for step in (2, 3):
        scene.daemon.stepped(step)
    scene.turn(101.0)
    scene.daemon.stepped(4)
    assert scene.told.steps == 2


def test_a_trace_by_steps_holds_whole_steps(folder):
    scene = Scene(BY_STEPS.format(folder=folder, round_up=10, steps=3))
    scene.daemon.stepped(12)
    scene.turn(100.0)
    seen = {step: list(scene.told.calls) for step in range(13, 25) if scene.daemon.stepped(step) is None}
    assert [seen[19], seen[20], seen[22], seen[23], seen[24]] == [[], ["begin"], ["begin"], ["begin", "end"], ["begin", "end"]]


def test_a_second_wish_does_not_end_the_first(folder):
    text = BY_TIME.format(folder=folder, ms=500)
    scene = Scene(text, text)
    scene.turn(100.0)
    with pytest.warns(UserWarning, match="only the first one"):
        scene.turn(100.2)
    assert scene.turn(100.5) == ["begin", "end"]


@pytest.mark.parametrize("fails, says", [("begin", "cannot be recorded: no"), ("end", "could not be written: no")])
def test_what_fails_is_a_warning_and_the_next_wish_is_served(folder, fails, says):
    text = BY_TIME.format(folder=folder, ms=500)
    scene = Scene(text, fails=fails)
    with pytest.warns(UserWarning, match=says):
        scene.turn(100.0)
        scene.turn(101.0)
    scene.told.fails, scene.told.calls = "", []
    scene.texts.append(text)
    scene.turn(102.0)
    assert scene.turn(103.0) == ["begin", "end"]


def test_a_wish_that_makes_no_sense_is_a_warning(folder):
    scene = Scene("ACTIVITIES_LOG_FILE=/etc/passwd")
    with pytest.warns(UserWarning, match="must be in"):
        assert scene.turn(100.0) == []


# --- Who records ---


def test_a_monitor_writes_the_steps_that_the_daemon_asks_for(folder, daemon):
    path = folder / f"trace_{os.getpid()}.json"
    x = torch.ones(4)
    with monitor(daemon=True, control=False, folder=folder, slow_steps=False, max_cost=1.0) as mon:

        def step_until_it_is_written():
            x.mul(2.0)
            mon.step()
            return path.exists()

        for _ in range(50):
            step_until_it_is_written()
        daemon.wishes.append(BY_STEPS.format(folder=folder, round_up=1, steps=4))
        awaited(step_until_it_is_written)
    steps = [event["name"] for event in read_trace(path) if event["name"].startswith("ProfilerStep#")]
    assert len(steps) >= 4
    assert min(int(step.partition("#")[2]) for step in steps) > 50  # the trace begins with the wish, not with what the monitor keeps


def test_a_monitor_says_which_options_it_lacks(folder, daemon):
    daemon.wishes.append(BY_TIME.format(folder=folder, ms=10) + "\nPROFILE_WITH_STACK=true")
    with (
        pytest.warns(UserWarning, match="asks for with_stack, which this monitor was not started with"),
        monitor(daemon=True, control=False, folder=folder),
    ):
        awaited((folder / f"trace_{os.getpid()}.json").exists)


TAKEN_OVER = """
    import os, sys, time
    from mindtorch_v2.profiler import take_over
    take_over()
    import torch
    assert os.environ["KINETO_USE_DAEMON"] == "1"
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    deadline = time.monotonic() + 120
    print(os.getpid(), flush=True)
    while not os.path.exists(sys.argv[1] % os.getpid()):
        assert time.monotonic() < deadline
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
"""


@pytest.mark.torch
@pytest.mark.parametrize("wish", [BY_TIME.format(folder="{folder}", ms=200), BY_STEPS.format(folder="{folder}", round_up=1, steps=3)])
def test_a_program_that_was_taken_over_is_recorded(folder, daemon, wish, bridged_torch):
    program = [sys.executable, "-c", textwrap.dedent(TAKEN_OVER), f"{folder}/trace_%d.json"]
    with subprocess.Popen(program, env={**os.environ, "KINETO_USE_DAEMON": "1"}, stdout=subprocess.PIPE, text=True) as process:
        pid = process.stdout.readline().strip()  # it computes now
        daemon.wishes.append(wish.format(folder=folder) + "\nPROFILE_REPORT_INPUT_SHAPES=true")
        assert process.wait() == 0
    events = read_trace(folder / f"trace_{pid}.json")
    steps = [event for event in events if event["name"].startswith("ProfilerStep#")]
    linear = [event for event in events if event["name"] == "aten::linear"]
    assert linear and all("Input Dims" in event["args"] for event in linear)
    assert len({context[1] for context in daemon.contexts}) == 1  # PyTorch has not asked too
    if "ITERATION" in wish:
        assert len(linear) == 3
        assert len(steps) >= 3
