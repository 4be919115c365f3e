"""Programs under tools that change how Python runs: event loops, servers, task queues, debuggers, coverage, test runners.

Each program does under `mtprof run`, and with a monitor, what it does alone, and its scopes are recorded.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

pytestmark = [pytest.mark.programs, pytest.mark.torch]

LIMIT = 300  # seconds after which something hangs


@pytest.fixture(params=["mindtorch_v2", "torch"])
def host(request, bridged_torch):
    return request.param


class Tool:
    """Runs a program in a folder of its own, alone or under `mtprof run`."""

    def __init__(self, folder, mtprof, host):
        self.folder, self.mtprof, self.host = folder, mtprof, host
        self.environment = {**os.environ, "HOST": host}
        self.started = []

    def write(self, **texts):
        for name, text in texts.items():
            (self.folder / f"{name}.py").write_text(text)

    def start(self, *words, recorded):
        command = [sys.executable, *words]
        if recorded:
            command = [str(self.mtprof), "run", "-o", "out.mtrec", "--quiet", "--", *command]
        with open(self.folder / "output", "w") as output:
            options = {"stdout": output, "stderr": output, "stdin": subprocess.DEVNULL, "start_new_session": True}
            process = subprocess.Popen(list(map(str, command)), cwd=self.folder, env=self.environment, **options)
        self.started.append(process)
        return process

    def output(self):
        return (self.folder / "output").read_text()

    def finish(self, process, status=0):
        assert process.wait(LIMIT) == status, self.output()
        return self.output()

    def run(self, *words, recorded, status=0):
        return self.finish(self.start(*words, recorded=recorded), status)

    def runs_alike(self, *words, status=0):
        """Runs the program alone and recorded, and compares what it prints."""
        alone = self.run(*words, recorded=False, status=status)
        recorded = self.run(*words, recorded=True, status=status)
        assert recorded == alone
        return recorded

    def scopes(self):
        """How often each scope is in the recordings, all processes together."""
        self.collect()
        names = Counter()
        for path in self.folder.glob("out*.mtrec"):
            listed = path.with_suffix(".events.json")
            subprocess.run([self.mtprof, "export", path, "-o", listed], check=False, capture_output=True)
            events = json.loads(listed.read_text())["events"]
            names.update(event["name"] for event in events if event["kind"] == "scope")
        return names

    def collect(self):
        deadline = time.monotonic() + LIMIT
        while list(self.folder.glob(".*.parts")) and time.monotonic() < deadline:
            subprocess.run([self.mtprof, "collect", self.folder], env=self.environment, check=False, capture_output=True)
            time.sleep(0.1)

    def end(self):
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


HEAD = """
import importlib, os, sys
torch = importlib.import_module(os.environ["HOST"])
from mindtorch_v2.profiler import monitor, record_function

def work(name, count=1):
    for _ in range(count):
        with record_function(name):
            torch.ones(3) + 1

"""


@pytest.fixture
def tool(tmp_path, program, host, skip_without):
    tool = Tool(tmp_path, program("mtprof"), host)
    yield tool
    tool.end()


def until(condition):
    deadline = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < deadline, "this never came true"
        time.sleep(0.05)
    return found


# --- Event loops ---

MONITOR = """
import signal

def recorder():
    return monitor(keep_last=20, folder="files", slow_steps=False, max_cost=1.0, signals=[signal.SIGUSR1])
"""
# In the place of a monitor under `mtprof run`: a process has one recording at a time.
NOTHING = """
import signal
signal.signal(signal.SIGUSR1, lambda *_: None)

class recorder:
    file, error = __file__, None
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def step(self): pass
    def trigger(self, wait): return self
"""

GEVENT = """
import gevent, threading

def request(number):
    with record_function("request"):
        gevent.sleep(0.001 * (number % 7))  # others run meanwhile, so that scopes of one thread do not nest
        work("inner")

with recorder() as mon:
    for _ in range(5):
        gevent.joinall([gevent.spawn(request, number) for number in range(20)])
        thread = threading.Thread(target=work, args=("thread",))
        thread.start()
        thread.join()
        mon.step()
    file = mon.trigger(wait=True)
    print("wrote", file.error, os.path.exists(file.file))
"""


def test_gevent(tool, skip_without):
    skip_without("gevent")
    patch = "from gevent import monkey\nmonkey.patch_all()\n"
    tool.write(watched=patch + HEAD + MONITOR + GEVENT, train=patch + HEAD + NOTHING + GEVENT)
    assert tool.run("watched.py", recorded=False) == "wrote None True\n"
    assert tool.runs_alike("train.py") == "wrote None True\n"
    found = tool.scopes()
    assert (found["request"], found["inner"], found["thread"]) == (100, 100, 5)


UVLOOP = """
import asyncio, uvloop

async def request(number):
    with record_function("request"):
        await asyncio.sleep(0.001 * (number % 7))
        await asyncio.get_running_loop().run_in_executor(None, work, "inner")

async def main():
    with recorder() as mon:
        for _ in range(5):
            await asyncio.gather(*(request(number) for number in range(20)))
            mon.step()
        os.kill(os.getpid(), signal.SIGUSR1)
        file = await asyncio.get_running_loop().run_in_executor(None, lambda: mon.trigger(wait=True))
        print("wrote", file.error, os.path.exists(file.file), type(asyncio.get_running_loop()).__module__)

uvloop.run(main())
"""


def test_uvloop(tool, skip_without):
    skip_without("uvloop")
    tool.write(watched=HEAD + MONITOR + UVLOOP, train=HEAD + NOTHING + UVLOOP)
    assert tool.run("watched.py", recorded=False) == "wrote None True uvloop\n"
    assert list((tool.folder / "files").glob("*.signal.*"))
    assert tool.runs_alike("train.py") == "wrote None True uvloop\n"
    found = tool.scopes()
    assert (found["request"], found["inner"]) == (100, 100)


# --- Servers and task queues ---

SERVER = """
def app(environ, start_response):
    work("request", 3)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
"""


@pytest.mark.parametrize("options", [("--workers=2",), ("--workers=2", "--preload"), ("--workers=1", "--worker-class=gevent")])
def test_gunicorn(tool, skip_without, options):
    skip_without("gunicorn")
    skip_without("gevent")
    tool.write(server=HEAD + SERVER)
    server = tool.start("-m", "gunicorn", "--bind=unix:socket", "--graceful-timeout=20", *options, "server:app", recorded=True)
    until(lambda: "Listening at" in tool.output())
    until(lambda: (tool.folder / "socket").exists())
    answered = [ask(tool.folder / "socket") for _ in range(20)]
    assert all(number.isdigit() for number in answered)
    server.send_signal(signal.SIGTERM)  # to mtprof, which hands it on
    tool.finish(server)
    assert tool.scopes()["request"] == 60


def ask(path):
    import http.client
    import socket

    connection = http.client.HTTPConnection("localhost", timeout=LIMIT)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(LIMIT)
    connection.sock.connect(str(path))
    connection.request("GET", "/", headers={"Connection": "close"})
    return connection.getresponse().read().decode()


CELERY = """
from celery import Celery

app = Celery("tasks")
folders = {key: "queue" for key in ("data_folder_in", "data_folder_out")}
app.conf.update(broker_url="filesystem://", broker_transport_options=folders, result_backend="file://results")

@app.task
def task(count):
    work("task", count)
    return count
"""


@pytest.mark.parametrize("pool", ["prefork", "threads"])
def test_celery(tool, skip_without, pool):
    skip_without("celery")
    for name in ("queue", "results"):
        (tool.folder / name).mkdir()
    asks = "import tasks\nprint(sum(tasks.task.delay(3).get(timeout=200) for _ in range(10)))"
    tool.write(tasks=HEAD + CELERY, asks=asks)
    words = [
        "-m",
        "celery",
        "-A",
        "tasks",
        "worker",
        f"--pool={pool}",
        "--concurrency=2",
        "--loglevel=info",
        "--without-mingle",
        "--without-gossip",
    ]
    worker = tool.start(*words, recorded=True)
    until(lambda: " ready." in tool.output())
    asked = subprocess.run(
        [sys.executable, "asks.py"], cwd=tool.folder, env=tool.environment, capture_output=True, text=True, timeout=LIMIT
    )
    assert asked.stdout == "30\n", asked.stderr
    worker.send_signal(signal.SIGTERM)
    tool.finish(worker)
    assert tool.scopes()["task"] == 30


def test_ray(tool, skip_without):
    skip_without("ray")
    text = """
import ray

@ray.remote
def task(count):
    work("task", count)
    return count

@ray.remote
class Actor:
    def work(self):
        work("actor")
        return 1

if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error", object_store_memory=80 << 20)
    print(sum(ray.get([task.remote(3) for _ in range(10)])))
    actor = Actor.remote()
    print(sum(ray.get([actor.work.remote() for _ in range(5)])))
    ray.shutdown()
"""
    tool.write(train=HEAD + text)
    tool.environment |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": str(LIMIT)}
    output = tool.run("train.py", recorded=True)
    assert "30\n5\n" in output
    found = tool.scopes()
    assert (found["task"], found["actor"]) == (30, 5)


# --- Tools that watch a program ---

LOOP = """
def main():
    for number in range(10):
        work("step")
    print("done", sys.gettrace() is not None)

if __name__ == "__main__":
    main()
"""


def test_coverage(tool, skip_without):
    skip_without("coverage")
    tool.write(train=HEAD + LOOP)
    assert tool.run("-m", "coverage", "run", "--branch", "train.py", recorded=False).startswith("done")
    alone = covered(tool)
    assert tool.run("-m", "coverage", "run", "--branch", "train.py", recorded=True).startswith("done")
    assert covered(tool) == alone and len(alone) > 10
    assert tool.scopes()["step"] == 10


def covered(tool):
    """The lines of the program that coverage has seen."""
    report = [sys.executable, "-m", "coverage", "json", "-q", "-o", "coverage.json", "--include=train.py"]
    subprocess.run(report, cwd=tool.folder, env=tool.environment, check=True)
    return json.loads((tool.folder / "coverage.json").read_text())["files"]["train.py"]["executed_lines"]


def test_pdb(tool):
    tool.write(train=HEAD + LOOP)
    words = ["-m", "pdb", "-c", "break main", "-c", "continue", "-c", "next", "-c", "next", "-c", "clear 1", "-c", "continue", "-c", "quit"]
    assert "done" in tool.runs_alike(*words, "train.py")
    assert tool.scopes()["step"] == 10


def test_debugpy(tool, skip_without):
    skip_without("debugpy")
    tool.write(train=HEAD + LOOP)
    tool.environment |= {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    assert "done" in tool.runs_alike("-Xfrozen_modules=off", "-m", "debugpy", "--listen", "127.0.0.1:0", "train.py")
    assert tool.scopes()["step"] == 10


def test_pytest_xdist(tool, skip_without):
    skip_without("xdist")
    text = """
import pytest

@pytest.mark.parametrize("number", range(20))
def test_works(number):
    work("test", 2)

def test_with_a_monitor(tmp_path):
    with monitor(keep_last=5, folder=tmp_path) as mon:
        work("in a monitor")
        mon.step()
"""
    tool.write(test_work=HEAD + text)
    output = tool.run("-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "test_work.py", recorded=True)
    assert "21 passed" in output
    assert tool.scopes()["test"] == 40
