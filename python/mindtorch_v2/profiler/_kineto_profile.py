"""A profile without steps, and the methods that every profile has."""

from __future__ import annotations

import copy
import json
import logging
import os
import tempfile
import time
from types import MappingProxyType
from typing import TYPE_CHECKING

from mindtorch_v2 import _C
from mindtorch_v2.profiler import _nvtx
from mindtorch_v2.profiler._config import as_ours, warn_without_effect
from mindtorch_v2.profiler._distributed import collective_counts, distributed_info
from mindtorch_v2.profiler._event_list import EventList
from mindtorch_v2.profiler._garbage_collection import GarbageCollection
from mindtorch_v2.profiler._hosts import activate_hosts
from mindtorch_v2.profiler._parquet import write_parquet
from mindtorch_v2.profiler._python_calls import PythonCalls
from mindtorch_v2.profiler._thread_names import ThreadNames
from mindtorch_v2.profiler._warnings import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas

    from mindtorch_v2.profiler._config import _ExperimentalConfig
    from mindtorch_v2.profiler._enums import ProfilerActivity
    from mindtorch_v2.profiler.profiler import _ITraceObserver


# To the logger, and by the words, that programs know from torch.
_TIMED_OUT = "The profiler timed out after %.3f seconds, returning partial results with 0 of %d events"


def _parse_activities(activities):
    """The activities of a mixed list, and the names of event groups that dictionaries in it limit an activity to."""
    parsed, filters = [], {}
    for item in activities:
        if isinstance(item, dict):
            for activity, names in item.items():
                parsed.append(activity)
                filters[activity] = set(names)  # no names: nothing of it
        else:
            parsed.append(item)
    return parsed, filters


def _valid_text(text):
    """`text` with U+FFFD for halves of surrogate pairs, as they are in names; anything else but a str unchanged."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if isinstance(text, str) else text


def _are_calls_recorded(with_stack, config):
    """Whether Python calls are recorded if python_calls is None."""
    if not with_stack or (config is not None and (config.verbose or config.adjust_profiler_step)):
        return with_stack
    keeps_the_end = config is not None and (config.keep_last_steps is not None or config.keep_last_seconds is not None)
    if keeps_the_end:  # calls would push out the steps
        return False
    return os.environ.get("MINDTORCH_PYTHON_CALLS") == "1"


class _KinetoProfile(_C.Profile):
    """A profile without steps: start() records, stop() ends it. `profile` adds steps and schedules.

    Args:
        activities: ProfilerActivity members or their names; None: supported_activities(). A dict {activity: names} keeps only these
            groups of its events, by torch's names: "CPU_OP", "USER_ANNOTATION", "CONCURRENT_KERNEL", "GPU_MEMCPY", ...
        record_shapes: keep sizes, strides and types of the arguments of ops.
        profile_memory: keep allocations and frees.
        with_stack: keep the Python stack of ops and scopes.
        with_flops: estimate floating point operations; needs shapes, so they are kept too.
        with_modules: record calls of modules as scopes.
        experimental_config: an _ExperimentalConfig.
        execution_trace_observer: an object with start(), stop() and cleanup().
        acc_events: keep the events of all cycles, not only of the last.
        custom_trace_id_callback: called once a cycle, returns the id of its trace; None: a random one.
        post_processing_timeout_s: how long events() may take. It takes no time, so that only 0 has an effect: there are no events then, and
            a warning is logged. Files can still be written.
        python_calls: record every call of a Python or C function, and of modules, as an event. None: torch does so for `with_stack`; here
            `with_stack` does with `experimental_config=_ExperimentalConfig(verbose=True)`, or if the environment has
            MINDTORCH_PYTHON_CALLS=1.
    """

    on_trace_ready = None
    has_cudagraphs = False
    mem_tl = None
    _made_events = None  # the lazy events of a trace, and the list of them that programs get
    _made_stats = None
    _collectives_before = None  # what the groups of torch.distributed had counted when the trace began
    _constructed = False

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity | str | dict[ProfilerActivity, Iterable[str]]] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: _ExperimentalConfig | None = None,
        execution_trace_observer: _ITraceObserver | None = None,
        acc_events: bool = False,
        custom_trace_id_callback: Callable[[], str] | None = None,
        post_processing_timeout_s: float | None = None,
        python_calls: bool | None = None,
    ) -> None:
        self._construct(
            None,
            activities=activities,
            record_shapes=record_shapes,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_flops=with_flops,
            with_modules=with_modules,
            experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
            python_calls=python_calls,
        )

    def _construct(
        self,
        schedule,
        *,
        activities,
        with_modules,
        experimental_config,
        execution_trace_observer,
        custom_trace_id_callback,
        post_processing_timeout_s,
        python_calls,
        **options,
    ):
        options = {name: bool(is_wanted) for name, is_wanted in options.items()}  # programs pass numbers and None too
        self.experimental_config = experimental_config
        self.execution_trace_observer = execution_trace_observer
        self.custom_trace_id_callback = custom_trace_id_callback
        config = as_ours(experimental_config)
        self._garbage_collection = GarbageCollection() if config and config.record_python_gc_info else None
        self.python_calls = _are_calls_recorded(options["with_stack"], config) if python_calls is None else bool(python_calls)
        self._python_calls = PythonCalls() if self.python_calls else None
        self._thread_names = ThreadNames()
        self.activity_filters = {}
        if activities is not None:
            activities, self.activity_filters = _parse_activities(activities)
        if config is not None:
            warn_without_effect(config)
            if config.enable_nvtx:
                _nvtx.warn_if_lost()
        activate_hosts()
        _C.Profile.__init__(
            self,
            activities=activities,
            activity_filters=self.activity_filters,
            schedule=schedule,
            experimental_config=config,
            with_modules=bool(with_modules) or self.python_calls,
            post_processing_timeout_s=post_processing_timeout_s,
            **options,
        )
        self._constructed = True
        if self.with_stack and config and config.trace_only:  # refused, with a warning
            self.experimental_config = copy.copy(experimental_config)
            self.experimental_config.trace_only = False

    def __del__(self):
        if self._constructed and (self.running or self.recording_now):
            warn("A profile was never stopped: what it recorded is lost.", ResourceWarning)

    # Calls of the C++ side are written out where a reader, or inspect, asks for their arguments.

    def start(self) -> None:
        self.prepare_trace()
        self.start_trace()

    def stop(self) -> None:
        self.stop_trace()

    def prepare_trace(self) -> None:
        """Does everything that is slow, so that start_trace() is quick."""
        super().prepare_trace()

    def start_trace(self) -> None:
        super().start_trace()

    def stop_trace(self) -> None:
        super().stop_trace()

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Switches activities of the running trace off and on."""
        super().toggle_collection_dynamic(enable, activities)

    def _keep_snapshot_of(self, running: _KinetoProfile) -> None:
        """Takes what another profile has recorded so far for the last trace of this one. The other profile goes on."""
        super()._keep_snapshot_of(running)
        self._add_distributed_info()

    @property
    def profiler(self):
        """This profile by the names of torch.autograd.profiler.profile; None before the first trace is prepared."""
        from mindtorch_v2.autograd import profiler

        return None if self.get_trace_id() is None else profiler.profile._of(self)

    def _stats(self):
        return None if self.get_trace_id() is None else self._stats_of_trace()

    def _stats_of_trace(self):
        """One object for each trace. What concerns events is in it once they have been asked for."""
        from mindtorch_v2.autograd._profiler_result import _stats_of

        if self._made_stats is None or self._made_stats[0] != self.get_trace_id():
            self._made_stats = self.get_trace_id(), _stats_of(self.overhead())
        return self._made_stats[1]

    def _get_distributed_info(self):
        return distributed_info(self._collectives_before)

    def _observe(self, moment):
        """Called with "start" before the first event of a trace, "started" when events are recorded, "stop" after the last event, and
        "cleanup" when the `with` block ends.
        """
        if moment == "started":
            return  # this call is the first that is recorded, so that running functions begin before the first step does
        if moment == "start":
            self._collectives_before = collective_counts()
            self._add_distributed_info()
        observers = [self._thread_names, self._garbage_collection, self.execution_trace_observer, self._python_calls]
        # What begins last ends first: calls that observers make are not the program's.
        for observer in observers if moment == "start" else reversed(observers):
            if observer is not None:
                getattr(observer, moment)()
        if moment == "stop":
            self._add_distributed_info()

    def _add_distributed_info(self):
        if (info := self._get_distributed_info()) is not None:
            self.add_metadata_json("distributedInfo", json.dumps(info))

    def _trace_ready(self):
        ready = self.on_trace_ready
        if isinstance(ready, tuple):  # of several, the first
            ready = ready[0]
        if ready:
            ready(self)

    def add_metadata(self, key: str, value: str) -> None:
        """A text among the top-level values of the trace file."""
        if not isinstance(value, str):
            raise AttributeError(f"{type(value).__name__!r} object has no attribute 'replace'")
        super().add_metadata(_valid_text(key), _valid_text(value))

    def add_metadata_json(self, key: str, value: str) -> None:
        """A value among the top-level values of the trace file; text that is not JSON is kept as a string."""
        super().add_metadata_json(_valid_text(key), _valid_text(value))

    def preset_metadata_json(self, key: str, value: str) -> None:
        """The same, before start."""
        super().preset_metadata_json(_valid_text(key), _valid_text(value))

    @property
    def preset_metadata(self) -> MappingProxyType[str, str]:
        """A view of the metadata that preset_metadata_json() was given."""
        return MappingProxyType(super().preset_metadata)

    def events(self) -> EventList:
        """The recorded events, as an EventList of FunctionEvent objects that are made when they are looked at.

        It is the same list until another trace has been recorded, so what a program changes in it stays.
        """
        return self._events_within(self.post_processing_timeout_s)

    def _events_within(self, timeout_s):
        """The events, or none and a warning if there is no time for them: events are not parsed, so that any other time is enough."""
        began = time.perf_counter_ns()
        found = self._events()
        if timeout_s == 0:
            logging.getLogger("torch.autograd.profiler").warning(_TIMED_OUT, timeout_s, len(found))
            events = EventList(use_device=self.use_device, profile_memory=self.profile_memory, with_flops=self.with_flops)
            events._build_tree()
            return events
        if self._made_events is None or not self._made_events[0].shares_events_with(found):
            self._made_events = found, EventList._of_events(found)
        events = self._made_events[1]
        if self.get_trace_id() is not None and not self.recording_now:
            from mindtorch_v2.autograd._profiler_result import _add_events

            _add_events(self._stats_of_trace(), len(events), time.perf_counter_ns() - began)
        return events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Events of one name added up, as an EventList of FunctionEventAvg rows."""
        self._events("getting key averages")  # or says why there are none
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path: str | os.PathLike, use_python_export: bool = False) -> None:
        """Writes the last cycle as Chrome's JSON; ".gz" is compressed, ".pftrace" is Perfetto's format. May be repeated.

        There is one exporter: `use_python_export` is accepted and changes nothing.
        """
        self._export_chrome_trace(os.fspath(path))

    def counters(self) -> _C.Counters:
        """Memory and queued device work over time, as a table for pyarrow, polars, DuckDB and others that know Arrow's C interface."""
        return _C.counters(self._events("getting counters"))

    def export_trace(self, path: str | os.PathLike) -> None:
        """Writes the last cycle in the format that the suffix of `path` names."""
        path = os.fspath(path)
        if not path.endswith(".parquet"):
            self._export_trace(path)
            return
        if path.endswith(".averages.parquet"):
            table = self.key_averages()
        elif path.endswith(".counters.parquet"):
            table = self.counters()
        else:
            table = EventList._of_events(self._events())  # whatever a program has made of events()
        write_parquet(table, path)

    def export_report(self, path: str | os.PathLike) -> None:
        """Writes one page for a browser about the last cycle: steps, findings, tables, flame graph, memory, timeline."""
        path = os.fspath(path)
        if path.endswith(".report.html"):
            self._export_trace(path)
            return
        with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(path))) as folder:  # the suffix chooses the format
            page = os.path.join(folder, f"{os.path.basename(path)}.report.html")
            self._export_trace(page)
            os.replace(page, path)

    def export_memory_timeline(self, path: str | os.PathLike, device: str | None = None) -> None:
        """Writes how much memory each category took at each moment: ".html" a page, ".json" and ".json.gz" numbers, "raw.json.gz" changes.

        `device` is "cpu", "npu:0", "cuda:1"; None: the first accelerator that reported memory, else the CPU.
        """
        self._export_memory_timeline(os.fspath(path), device)

    def _memory_profile(self):
        """torch's analysis of the recorded memory: categories and versions of tensors."""
        from mindtorch_v2.profiler._memory_profile import memory_profile

        return memory_profile(self)

    def to_pandas(self) -> pandas.DataFrame:
        """The recorded events as a pandas.DataFrame with one row per event."""
        return self.events().to_pandas()

    def _repr_html_(self) -> str | None:
        """The averages as HTML for a notebook. None if there are no averages yet: the notebook then shows plain text."""
        if self.get_trace_id() is None or self.recording_now:
            return None
        try:
            return self.key_averages()._repr_html_()
        except RuntimeError:  # a profile that keeps no events
            return None

    def export_stacks(self, path: str | os.PathLike, metric: str = "self_cpu_time_total") -> None:
        """Writes "outermost;...;innermost <microseconds>" lines, the input of flame graph tools."""
        self._export_stacks(os.fspath(path), metric)
