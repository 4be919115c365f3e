"""What a finished profile hands out besides its events: the trace, and what the profiler itself took."""

from dataclasses import dataclass


@dataclass
class _ProfilerStats:
    """What the profiler itself took, of the last trace."""

    profiling_window_duration_sec: float = 0
    number_of_events: int = 0
    profiler_prepare_call_duration_us: int = 0
    profiler_enable_call_duration_us: int = 0
    profiler_disable_call_duration_us: int = 0
    parse_kineto_call_duration_us: int = 0  # events are made when they are looked at: there is nothing to parse
    function_events_build_tree_call_duration_us: int = 0


def _stats_of(overhead):
    return _ProfilerStats(
        profiling_window_duration_sec=overhead.window_ns / 1e9,
        number_of_events=overhead.events,
        profiler_prepare_call_duration_us=overhead.prepare_ns // 1000,
        profiler_enable_call_duration_us=overhead.start_ns // 1000,
        profiler_disable_call_duration_us=overhead.stop_ns // 1000,
    )


class _ProfilerResult:
    """The finished trace of a profile, as torch's C++ side hands it out."""

    def __init__(self, profile):
        self._profile = profile

    def save(self, path):
        self._profile.export_chrome_trace(path)

    def events(self):
        return self._profile.events()
