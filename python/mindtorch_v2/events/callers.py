"""The function and the line in which a call of the tree of raw events was made."""

from mindtorch_v2.events.profiler_event import _FrameState

_CALLS = ("PyCall", "PyCCall")


class Callers:
    """Sets `caller` of calls. The stack of the first event inside a call tells the line. If there is none, the line is where the calling
    function is said to be, which is that of its `def` if calls were recorded."""

    def __init__(self, shown_file):
        self._shown_file = shown_file
        self._known = {}  # frames by their texts
        self._events = {}  # id of a node -> its event
        self._backward = set()  # ids of nodes of the backward pass
        self._told = set()  # ids of calls inside of which an event has been seen

    def add(self, node, event):
        if event.kind in ("op", "scope", "module"):
            self._events[id(node)] = event
            if event.fwd_thread:
                self._backward.add(id(node))

    def enter(self, path, node):
        """`node` begins inside the nodes of `path`, whose last is the innermost."""
        if node.kind in _CALLS:
            node.extra_fields.caller = next(filter(None, map(_place, reversed(path))), node.extra_fields.caller)
        event = self._events.pop(id(node), None)
        if event is None:
            return
        innermost = next((around for around in (node, *reversed(path)) if around.kind in _CALLS), None)
        if innermost is None or id(innermost) in self._told:
            return
        calls = [around for around in (*path, node) if around.kind in _CALLS]
        frames = [self._known.get(text) or self._read(text) for text in event.stack]
        # An event of the backward pass may have the stack of its forward call.
        if not self._is_backward(path, node) or _begins_in_innermost(frames, calls):
            self._read_stack(calls, frames)

    def _read_stack(self, calls, frames):
        """Both have the functions of the program in the same order. Either may have others between them."""
        callees = []
        while calls:
            call = calls.pop()
            frame = _take_frame(frames, _place(call))
            if frame is not None:
                _set_callers(callees, frame)
            elif _place(call) is not None:
                callees.clear()  # what is called by a function that the stack leaves out
            if id(call) in self._told:
                _set_callers(callees, call.extra_fields.caller)
                return
            self._told.add(id(call))
            callees.append(call)

    def _is_backward(self, path, node):
        return bool(self._backward) and any(id(around) in self._backward for around in (node, *path))

    def _read(self, text):
        frame = _FrameState.of_name(text)
        frame = self._known[text] = _FrameState(self._shown_file(frame.file_name), frame.line_number, frame.function_name)
        return frame


def _place(node):
    """Where a function is. Modules and C functions have no place: the function around them calls what is inside them."""
    return node.extra_fields.callsite if node.kind == "PyCall" and node.extra_fields.callsite.file_name else None


def _begins_in_innermost(frames, calls):
    place = next(filter(None, map(_place, reversed(calls))), None)
    return bool(frames) and place is not None and _function(frames[0]) == _function(place)


def _function(frame):
    return frame.file_name, frame.function_name


def _take_frame(frames, place):
    """The innermost of `frames` in the function at `place`. It and those inside it are removed; without one nothing is."""
    for position, frame in enumerate(frames):
        if place is not None and _function(frame) == _function(place):
            del frames[: position + 1]
            return frame
    return None


def _set_callers(callees, frame):
    while callees:
        callees.pop().extra_fields.caller = frame
