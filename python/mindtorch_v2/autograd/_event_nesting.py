"""Builds the tree of raw events: each node lies inside what was open around it on its thread."""

import os
import sys
from collections import defaultdict

from mindtorch_v2 import _C
from mindtorch_v2.autograd import _profiler_event as node_of


def event_tree(events):
    """The roots, in order of their start. Without recorded Python calls, the stacks of ops tell which Python functions were open."""
    base_ns = events.base_unix_ns
    raw = _C.all_events(events)
    has_calls = any(event.is_python_function for event in raw)
    shown_file = _ShownFiles()
    threads = defaultdict(list)
    for event, frames in zip(raw, _C.own_frames(events), strict=True):
        if event.kind != "instant":
            around = [] if has_calls else [(shown_file(file), line, function) for file, line, function in reversed(frames)]
            threads[event.thread].append((_node(event, base_ns), around))
    for report in _C.memory_reports(events):
        node = node_of.of_memory_report(report, base_ns)
        threads[node.start_tid].append((node, None))
    roots = [root for thread in threads.values() for root in _nested(thread)]
    return sorted(roots, key=lambda root: root.start_time_ns)


def _node(event, base_ns):
    if event.kind in ("python_function", "module"):
        return node_of.of_python_call(event, base_ns)
    if event.kind in ("op", "scope"):
        return node_of.of_op(event, base_ns)
    return node_of.of_device_work(event, base_ns)


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


def _nested(items):
    """The roots among the nodes of one thread."""
    roots, path = [], []
    items.sort(key=lambda item: (item[0].start_time_ns, -item[0].end_time_ns))
    for node, frames in items:
        _leave_ended(path, node)
        if frames is not None:  # a report of memory belongs to what is open
            _follow_frames(roots, path, frames, node)
        _enter(roots, path, node)
        if node.kind == "Allocation":
            path.pop()
    return roots


def _enter(roots, path, node):
    if path:
        path[-1].adopt(node)
    else:
        roots.append(node)
    if node.kind in ("PyCall", "PyCCall"):
        callers = [around.extra_fields.callsite for around in path if around.kind == "PyCall"]
        node.extra_fields.caller = callers[-1] if callers else node.extra_fields.caller
    path.append(node)
    for around in path:
        if around.is_derived:
            around.end_time_ns = max(around.end_time_ns, node.end_time_ns)


def _leave_ended(path, node):
    """Leaves recorded events that are over, with the functions inside them. A scope that was never ended stays where it began."""
    for i, around in enumerate(path):
        if not around.is_derived and around.end_time_ns <= node.start_time_ns and around.start_time_ns != node.end_time_ns:
            del path[i:]
            return


def _follow_frames(roots, path, frames, node):
    """Leaves the derived functions that the event is not in, and enters those that are new."""
    recorded = max((i + 1 for i, around in enumerate(path) if not around.is_derived), default=0)
    known = sum(around.is_derived for around in path[:recorded])
    at = recorded
    for file, line, function in frames[known:]:
        if at < len(path):
            callsite = path[at].extra_fields.callsite
            if (callsite.file_name, callsite.function_name) == (file, function):
                at += 1
                continue
            del path[at:]
        _enter(roots, path, node_of.of_frame(file, line, function, node.start_time_ns, node.start_tid))
        at += 1
    del path[at:]
