"""Builds the tree of raw events: each node lies inside what was open around it on its thread."""

from collections import defaultdict

from mindtorch_v2 import _C
from mindtorch_v2.autograd import _profiler_event as node_of


def event_tree(events):
    """The roots, in order of their start. Without recorded Python calls, the stacks of ops tell which Python functions were open."""
    base_ns = events.base_unix_ns
    raw = _C.all_events(events)
    has_calls = any(event.is_python_function for event in raw)
    threads = defaultdict(list)
    for event in raw:
        if event.kind != "instant":
            threads[event.thread].append((_node(event, base_ns), [] if has_calls else _frames(event)))
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


def _frames(event):
    """(file, line, function) of the Python functions around an event, outermost first."""
    frames = []
    for text in reversed(event.stack or []):
        file, line, function = text.rsplit(":", 2)
        frames.append((file, int(line), function))
    return frames


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
    path.append(node)
    for around in path:
        if around.is_derived:
            around.end_time_ns = max(around.end_time_ns, node.end_time_ns)


def _leave_ended(path, node):
    """Leaves recorded events that end before `node` does, with the functions inside them."""
    for i, around in enumerate(path):
        is_over = around.end_time_ns <= node.start_time_ns or around.end_time_ns < node.end_time_ns
        if not around.is_derived and is_over and around.start_time_ns != node.end_time_ns:
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
