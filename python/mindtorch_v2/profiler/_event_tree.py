"""Which hand-made event lies inside which. Events of a recording know it already, from C++."""

from collections import defaultdict

from mindtorch_v2 import _C
from mindtorch_v2.profiler._enums import DeviceType, RecordScope


def made_by_hand(events):
    return [event for event in events if not isinstance(event, _C.FunctionEvent)]


def _lies_inside(event, other):
    return event.time_range.start < other.time_range.end and event.time_range.end <= other.time_range.end


def nest(events):
    """Makes each event the child of the innermost one around it on its thread; those that overlap in part are not related."""
    threads = defaultdict(list)
    for event in events:
        if not event.is_async and event.device_type == DeviceType.CPU:
            threads[event.thread, event.node_id].append(event)
    for thread in threads.values():
        around = []
        for event in sorted(thread, key=lambda event: (event.time_range.start, -event.time_range.end)):
            while around and not _lies_inside(event, around[-1]):
                around.pop()
            if around:
                if event.cpu_parent is not None:
                    raise AssertionError(f"There is already a CPU parent event for {event.key}")
                around[-1].append_cpu_child(event)
                event.set_cpu_parent(around[-1])
            around.append(event)


def without_duplicates(events):
    """The events less those that are the only child of one of the same name: one call, seen twice. Their kernels and children move up."""
    while True:
        kept = [event for event in events if not _moved_up(event)]
        if len(kept) == len(events):
            return kept
        events = kept


def _moved_up(event):
    parent = event.cpu_parent
    if parent is None or parent.name != event.name or len(parent.cpu_children) != 1:
        return False
    parent.cpu_children, parent.kernels = event.cpu_children, event.kernels
    for child in event.cpu_children:
        child.cpu_parent = parent
    return True


def _backward_node(event):
    """The event or the innermost one around it that is a node of the backward pass; None without such a node."""
    while event is not None and event.scope != RecordScope.BACKWARD_FUNCTION.value:
        event = event.cpu_parent
    return event


def set_backward_stacks(events):
    """Gives events of the backward pass the stack of the forward call they belong to."""
    nodes = [_backward_node(event) for event in events]
    stacks = {}
    for event, node in zip(events, nodes, strict=True):
        if node is None and event.stack is not None:
            stacks.setdefault((event.sequence_nr, event.thread), event.stack)
    for event, node in zip(events, nodes, strict=True):
        if node is None:
            continue
        if node.fwd_thread is None:
            raise AssertionError("Expected fwd_thread to be set for backward parent")
        event.stack = stacks.get((node.sequence_nr, node.fwd_thread), [])
