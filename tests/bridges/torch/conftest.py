"""Shared by the tests of the PyTorch bridge: the built bridge, programs to profile, and an independent reader of traces."""

import importlib.util
import json
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Everything in this folder needs torch."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.torch)


@pytest.fixture(scope="session")
def torch(bridged_torch):
    bridged_torch.set_num_threads(1)
    return bridged_torch


class Event:
    """A complete event of a Chrome trace."""

    def __init__(self, entry):
        self.name, self.category, self.thread = entry["name"], entry["cat"], entry["tid"]
        self.start, self.end = entry["ts"], entry["ts"] + entry["dur"]
        self.args = entry.get("args", {})
        self.parent, self.children, self.memory = None, [], 0

    def argument(self, key):
        return json.dumps(self.args.get(key), default=float)


class Trace:
    """Ops, annotations and memory of a Chrome trace, nested by time alone."""

    def __init__(self, path):
        # A float of this size is not exact to the nanosecond: the end of an op would seem to lie behind that of its caller.
        content = json.loads(Path(path).read_text(), parse_float=Decimal)
        entries = content["traceEvents"]
        self.events = [Event(e) for e in entries if e.get("ph") == "X" and e.get("cat") in ("cpu_op", "user_annotation")]
        self.events.sort(key=lambda event: (event.thread, event.start, -event.end))
        memory = sorted((e for e in entries if e["name"] == "[memory]"), key=lambda e: e["ts"])
        self._nest({thread: [e for e in memory if e["tid"] == thread] for thread in {e["tid"] for e in memory}})
        self.memory = [e["args"]["Bytes"] for e in memory]
        self.flows = Counter(e["ph"] for e in entries if e.get("cat") == "fwdbwd")

    def _nest(self, memory):
        for thread in {event.thread for event in self.events} | set(memory):
            stack = []
            marks = [(event.start, 0, event) for event in self.events if event.thread == thread]
            marks += [(entry["ts"], 1, entry) for entry in memory.get(thread, [])]
            for time, is_memory, item in sorted(marks, key=lambda mark: mark[:2]):
                while stack and stack[-1].end < time:
                    stack.pop()
                if is_memory:
                    for event in stack:
                        event.memory += item["args"]["Bytes"]
                    continue
                while stack and stack[-1].end < item.end:
                    stack.pop()
                if stack:
                    item.parent = stack[-1]
                    stack[-1].children.append(item)
                stack.append(item)

    def count(self, key):
        return Counter(key(event) for event in self.events)


@pytest.fixture(scope="session")
def read_trace():
    return Trace


@pytest.fixture(scope="session")
def training(torch):
    """training("mlp") is a function that trains a small model for one step; steps are alike."""
    spec = importlib.util.spec_from_file_location("run_program", Path(__file__).with_name("run_program.py"))
    programs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(programs)
    return lambda name: programs.training_step(torch, name)
