"""Cases with a monitor: the program comes first, whatever it does with descriptors, and whatever others do at the control socket."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import checks
from case import Failure, require

PROGRAMS = Path(__file__).resolve().parent / "monitored_programs.py"


def start(case, program, **parameters):
    """A program with a monitor, whose control socket lies in the folder of the case."""
    case.parameters[program] = parameters = {"host": case.host, "folder": str(case.folder)} | parameters
    started = case.start(
        [sys.executable, "-X", "faulthandler", PROGRAMS, program], stdin=subprocess.PIPE, env={"XDG_RUNTIME_DIR": str(case.folder)}
    )
    started.stdin.write(json.dumps(parameters) + "\n")
    started.stdin.flush()
    return started


def check_recordings(case):
    """What the monitor has written is whole."""
    for path in sorted(case.folder.glob("*.mtrec"))[:5]:
        checks.info_of(case, path)
    leftovers = [path.name for path in (case.folder / f"mindtorch-{os.geteuid()}").glob("*")]
    require(not leftovers, f"sockets are left behind: {leftovers}")


def descriptors_reused_under_a_monitor(case):
    """The program's files and sockets hold what it has written, though it closes all descriptors and uses their numbers again."""
    rng = case.random
    program = start(case, "descriptors_are_taken", rounds=rng.choice([1, 5, 20]), asks=rng.random() < 0.5, draws=rng.getrandbits(32))
    case.finish(program)
    check_recordings(case)


def control_socket_under_attack(case):
    """Clients that send anything, in any number, do not keep a client of good will from its answer, nor the program from its end."""
    rng = case.random
    program = start(case, "steps_until_told")
    pid = int(program.stdout.readline())
    path = case.folder / f"mindtorch-{os.geteuid()}" / f"{pid}.sock"
    attackers = [Attacker(path, rng.getrandbits(32), rng.randrange(5, 60)) for _ in range(rng.choice([1, 4, 12]))]
    for attacker in attackers:
        attacker.start()
    for _ in range(rng.choice([3, 10])):
        answer = asked(path, {"command": rng.choice(["status", "refresh", "trigger"])}, case.setup.limit)
        require("error" not in answer, f"a client of good will got {answer}")
    for attacker in attackers:
        attacker.join(case.setup.limit)
        require(not attacker.is_alive(), "an attacker got no answer and was not left either")
    ended = case.finish(program)
    require(ended.answer["threads"] < 30, f"clients take threads: {ended.answer}")
    check_recordings(case)


class Attacker(threading.Thread):
    def __init__(self, path, draws, rounds):
        super().__init__(daemon=True)
        self._path, self._rng, self._rounds = path, random.Random(draws), rounds

    def run(self):
        held = []
        for _ in range(self._rounds):
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.settimeout(30)
                connection.connect(str(self._path))
                request = self._request()
                connection.sendall(request)
                if request.endswith(b"\n") and self._rng.random() < 0.3:  # the others would be silent until they are left
                    connection.recv(1 << 16)
            except OSError:
                pass
            if self._rng.random() < 0.2:
                held.append(connection)
            else:
                connection.close()
        for connection in held:
            connection.close()

    def _request(self):
        rng = self._rng
        return rng.choice(
            [
                b"",
                b"\n",
                rng.randbytes(rng.randrange(100)),
                rng.randbytes(100_000) + b"\n",
                b"[" * rng.randrange(70_000) + b"\n",
                b'{"command": "status"}\n' * rng.randrange(1, 1000),
                b'{"command": "refresh"}\n',
                json.dumps({"command": "trigger", "steps": rng.choice([-1, 10**30, "x", None, [], 0])}).encode() + b"\n",
                json.dumps({"command": "trigger", "output": rng.choice(["", "/", "/dev/null", "a\0b", 5])}).encode() + b"\n",
            ]
        )


def asked(path, request, limit):
    """The answer to a client that tries again while too many others ask."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(limit)
            try:
                connection.connect(str(path))
            except BlockingIOError:
                time.sleep(0.01)
                continue
            connection.sendall(json.dumps(request).encode() + b"\n")
            data = b""
            while piece := connection.recv(1 << 16):
                data += piece
            return json.loads(data)
    raise Failure("a client of good will could not connect")


def monitor_with_failing_handlers(case):
    """A program ends as it would without a monitor, whatever its handlers, threads and children do."""
    rng = case.random
    leaves = rng.choice(["return", "exception", "exit"])
    program = start(
        case,
        "everything_fails",
        draws=rng.getrandbits(32),
        steps=rng.choice([20, 200, 600]),
        threads=rng.choice([0, 1, 4]),
        max_cost=rng.choice([1.0, 1e-6]),
        hangs=rng.random() < 0.3,
        handler=rng.random() < 0.6,
        mute=rng.random() < 0.3,
        leaves=leaves,
    )
    case.finish(program, expected=({"return": 0, "exception": 1, "exit": 7}[leaves],))
    check_recordings(case)


def monitored_program_is_killed(case):
    """SIGKILL at any moment leaves whole files, and the next one who looks for monitors removes the socket."""
    rng = case.random
    program = start(case, "steps_until_told")
    pid = int(program.stdout.readline())
    sockets = case.folder / f"mindtorch-{os.geteuid()}"
    for number in range(rng.randrange(1, 5)):
        asked(sockets / f"{pid}.sock", {"command": "trigger", "output": str(case.folder / f"asked{number}.mtrec")}, case.setup.limit)
    with socket.socket(socket.AF_UNIX) as connection:  # the next file is being written
        connection.connect(str(sockets / f"{pid}.sock"))
        connection.sendall(b'{"command": "trigger"}\n')
        time.sleep(rng.random() * 0.02)
        case.end_group(program, signal.SIGKILL)
    program.communicate()
    case.mtprof("trigger", "--job", expected=(1,), env={"XDG_RUNTIME_DIR": str(case.folder)})
    check_recordings(case)


CASES = [descriptors_reused_under_a_monitor, control_socket_under_attack, monitor_with_failing_handlers, monitored_program_is_killed]
