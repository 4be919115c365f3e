"""Builds the tree of raw events: each node lies inside what was open around it on its thread."""

import gc
import os
import sys
from collections import defaultdict
from contextlib import contextmanager

from mindtorch_v2 import _C
from mindtorch_v2.events import profiler_event as node_of
from mindtorch_v2.events.callers import Callers
from mindtorch_v2.events.tensor_metadata import _Owners


def event_tree(events):
    """The roots, in order of their start. Without recorded Python calls, the stacks of ops tell which Python functions were open."""
    with _no_garbage_collection():
        return _event_tree(events)


@contextmanager
def _no_garbage_collection():
    """All nodes stay. To look for garbage among them and among what the program holds takes longer than to make them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _event_tree(events):
    base_ns = events.base_unix_ns
    arguments, numbers = _C.tensor_inputs(events)
    shown_file, owners, steps = _ShownFiles(), _Owners(), {}
    callers, threads = Callers(shown_file), defaultdict(list)
    for thread, start_ns, end_ns, file, line, function in _C.derived_calls(events):
        threads[thread].append(node_of.of_frame(shown_file(file), line, function, base_ns + start_ns, base_ns + end_ns, thread))
    for event, values in zip(_C.all_events(events), arguments, strict=True):
        if event.kind == "instant":
            continue
        node = _node(event, base_ns, owners, values)
        if not _joins_recorded_call(node, steps):
            threads[event.thread].append(node)
            callers.add(node, event)
    for report, number in zip(_C.memory_reports(events), numbers, strict=True):
        node = node_of.of_memory_report(report, base_ns, number)
        threads[node.start_tid].append(node)
    roots = [root for nodes in threads.values() for root in _nested(nodes, callers)]
    return sorted(roots, key=lambda root: root.start_time_ns)


def _node(event, base_ns, owners, values):
    if event.kind in ("python_function", "module"):
        return node_of.of_python_call(event, base_ns, owners, values)
    if event.kind in ("op", "scope"):
        return node_of.of_op(event, base_ns, values)
    return node_of.of_device_work(event, base_ns)


def _joins_recorded_call(node, steps):
    """Gives the optimizer of a step's own event to the call of the step if that was recorded too: torch has one node for both."""
    if node.kind != "PyCall" or not node.name.endswith(": _optimizer_step_code"):
        return False
    if node.extra_fields.optimizer is None:
        steps[node.start_tid] = node
        return False
    call = steps.pop(node.start_tid, None)
    if call is not None:
        call.extra_fields.optimizer = node.extra_fields.optimizer
    return call is not None


class _ShownFiles:
    """Files without the folder of sys.path that they are in, as torch shows them."""

    def __init__(self):
        self._folders = sorted((os.path.join(folder, "") for folder in sys.path if folder), key=len, reverse=True)
        self._known = {}

    def __call__(self, file):
        if file not in self._known:
            folder = next((folder for folder in self._folders if file.startswith(folder)), "")
            self._known[file] = file.removeprefix(folder)
        return self._known[file]


def _nested(nodes, callers):
    """The roots among the nodes of one thread. A derived function begins with its first event."""
    roots, path = [], []
    nodes.sort(key=lambda node: (node.start_time_ns, -node.end_time_ns, not node.is_derived))
    for node in nodes:
        # A scope that was never ended stays where it began.
        ended = (
            i for i, around in enumerate(path) if around.end_time_ns <= node.start_time_ns and around.start_time_ns != node.end_time_ns
        )
        del path[next(ended, len(path)) :]
        _enter(roots, path, node, callers)
        if node.kind == "Allocation":
            path.pop()
    return roots


def _enter(roots, path, node, callers):
    if path:
        path[-1].adopt(node)
    else:
        roots.append(node)
    callers.enter(path, node)
    path.append(node)
