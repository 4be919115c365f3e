"""What programs under stress do while a profile runs: events whose number, order and side data are known beforehand.

The op of a turn is called by a function whose name says whether the turn is even or odd, so an event of a turn shows which shapes and
which stack it must have.
"""

import importlib
import mmap
import os
import resource
import signal
import socket
import threading

from facts import MISSING_EVENTS, SIZES, WAITING
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function


def even_turn(tensor):
    return tensor + tensor


def odd_turn(tensor):
    return tensor + tensor


class Workload:
    """The work of one host: "embedded" or "torch"."""

    def __init__(self, host):
        self.torch = importlib.import_module({"embedded": "mindtorch_v2", "torch": "torch"}[host])
        self.tensors = [self.torch.ones(size + 1) for size in range(SIZES)]
        self.layer, self.batch = self.torch.nn.Linear(8, 8), self.torch.ones((4, 8))

    def turn(self, number):
        with record_function(f"scope {number % SIZES}"):
            (odd_turn if number % 2 else even_turn)(self.tensors[number % SIZES])

    def turns(self, count):
        for number in range(count):
            self.turn(number)

    def train(self):
        self.layer(self.batch).sum().backward()

    def events_of_training(self, options):
        """How many events train() is. events() leaves some of them out, as torch's does."""
        self.train()
        with profile(**options) as prof:
            self.train()
        return prof.overhead().events

    def in_threads(self, waves, threads, turns):
        """Threads that start, make some turns and die, a number of them at a time. Returns the number of turns made."""
        for _ in range(waves):
            running = [threading.Thread(target=self.turns, args=(turns,)) for _ in range(threads)]
            for thread in running:
                thread.start()
            for thread in running:
                thread.join()
        return waves * threads * turns


def config_of(parameters):
    """The experimental_config that the parameters of a program ask for."""
    names = ["budget_bytes", "keep_last_steps", "spill_path", "profile_all_threads"]
    return _ExperimentalConfig(**{name: parameters[name] for name in names if parameters.get(name) is not None})


def missing_events(losses):
    return sum(loss.count for loss in losses if loss.reason in MISSING_EVENTS)


def examine(events, options):
    """Counts the turns that were recorded, and describes side data that belongs to another event."""
    found = {"recorded": 0, "ops": 0, "scopes": 0, "without_shapes": 0, "without_stack": 0, "wrong": []}
    for event in events:
        name = event.name
        if name == WAITING or name == "[memory]":
            continue
        found["recorded"] += 1
        if name.startswith("scope "):
            found["scopes"] += 1
            found["without_stack"] += bool(options.get("with_stack")) and not event.stack
        elif name == "aten::add" and event.cpu_parent is not None and event.cpu_parent.name.startswith("scope "):
            found["ops"] += 1
            examine_op(event, int(event.cpu_parent.name.split()[1]), options, found)
    found["wrong"] = found["wrong"][:5]
    return found


def examine_op(event, number, options, found):
    if options.get("record_shapes") or options.get("with_flops"):
        shapes = [list(shape) for shape in event.input_shapes or [] if shape]
        if not shapes:
            found["without_shapes"] += 1
        elif shapes != [[number + 1], [number + 1]]:
            found["wrong"].append(f"scope {number} holds an op with the shapes {shapes}")
    if options.get("with_stack"):
        stack = list(event.stack or [])
        function = "odd_turn" if number % 2 else "even_turn"
        if not stack:
            found["without_stack"] += 1
        elif function not in stack[0]:
            found["wrong"].append(f"scope {number} holds an op with the stack {stack[:3]}")


class Interruptions:
    """`with Interruptions(seconds):` a signal handler that records runs every so many seconds of the process's own time."""

    def __init__(self, seconds):
        self.seconds, self.handled = seconds, 0

    def __enter__(self):
        if self.seconds:
            signal.signal(signal.SIGVTALRM, self.handle)
            signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds, self.seconds)
        return self

    def __exit__(self, *failure):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def handle(self, number, frame):
        with record_function("handler"):
            self.handled += 1


class SharedCounter:
    """A number in a file that outlives the process that counts, however it ends."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.write(bytes(8))
        descriptor = os.open(path, os.O_RDWR)
        self.map = mmap.mmap(descriptor, 8)
        os.close(descriptor)

    def set(self, value):
        self.map[:] = value.to_bytes(8, "little")

    @staticmethod
    def read(path):
        try:
            with open(path, "rb") as file:
                return int.from_bytes(file.read(8), "little")
        except FileNotFoundError:
            return 0


CONTENT = b"what the program has written " * 500


class Files:
    """Files and sockets that the program opens with the numbers that it has just closed."""

    def __init__(self, folder, count):
        os.closerange(3, 512)
        self._files = [open(f"{folder}/program{number}", "w+b", buffering=0) for number in range(count)]  # noqa: SIM115
        self._pairs = [socket.socketpair() for _ in range(count)]
        for file in self._files:
            file.write(CONTENT)

    def check(self):
        for file in self._files:
            file.seek(0)
            assert file.read() == CONTENT, f"{file.name} holds what the program has not written"
        for left, right in self._pairs:
            left.sendall(b"message")
            assert right.recv(100) == b"message", "a socket of the program carries what it has not sent"


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
