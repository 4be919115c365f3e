"""The results of a finished profile besides its events: the trace, and the cost of the profiler itself."""

from dataclasses import dataclass

from mindtorch_v2.events.kineto_event import _KinetoEvents
from mindtorch_v2.events.nesting import event_tree


@dataclass
class _ProfilerStats:
    """The cost of the profiler itself during the last trace."""

    profiling_window_duration_sec: float = 0
    number_of_events: int = 0
    profiler_prepare_call_duration_us: int = 0
    profiler_enable_call_duration_us: int = 0
    profiler_disable_call_duration_us: int = 0
    parse_kineto_call_duration_us: int = 0
    function_events_build_tree_call_duration_us: int = 0


def _stats_of(overhead):
    """What is known before events are asked for."""
    return _ProfilerStats(
        profiling_window_duration_sec=overhead.window_ns / 1e9,
        profiler_prepare_call_duration_us=overhead.prepare_ns // 1000,
        profiler_enable_call_duration_us=overhead.start_ns // 1000,
        profiler_disable_call_duration_us=overhead.stop_ns // 1000,
    )


def _add_events(stats, events, duration_ns):
    """Called when events were asked for. They are read and nested in one go; durations are rounded up, so that none is 0."""
    stats.number_of_events = events
    stats.parse_kineto_call_duration_us = stats.function_events_build_tree_call_duration_us = duration_ns // 1000 + 1


class _ProfilerResult:
    """The finished trace of a profile, with the interface of torch's C++ class."""

    def __init__(self, profile):
        self._profile = profile

    def save(self, path):
        self._profile.export_chrome_trace(path)

    def events(self):
        """The raw events, a sequence of _KinetoEvent."""
        events = self._profile._recording("accessing events")._events()
        return _KinetoEvents(events, events.base_unix_ns)

    def trace_start_ns(self):
        """The start of the recording in Unix nanoseconds. Times of FunctionEvents are relative to it."""
        return self._profile._recording("accessing events")._events().trace_start_ns

    def experimental_event_tree(self):
        """The roots of the tree of raw events, each with `children`; see _ProfilerEvent."""
        trace_id = self._profile.get_trace_id()
        made = getattr(self._profile, "_made_event_tree", None)
        if made is None or made[0] != trace_id:  # made once: its nodes are compared by identity
            made = self._profile._made_event_tree = (trace_id, event_tree(self._profile._recording("accessing events")._events()))
        return made[1]

    def trace_activities(self):
        raise RuntimeError("Kineto's activities do not exist here: read events()")
