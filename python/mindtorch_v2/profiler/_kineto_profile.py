"""A profile without steps, and the methods that every profile has."""

from __future__ import annotations

import copy
import inspect
import json
import logging
import math
import os
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING

from mindtorch_v2 import _C
from mindtorch_v2.base.distributed import collective_counts, distributed_info
from mindtorch_v2.base.warnings import warn
from mindtorch_v2.capture import nvtx
from mindtorch_v2.capture.data_loading import DataLoading
from mindtorch_v2.capture.garbage_collection import GarbageCollection
from mindtorch_v2.capture.python_calls import PythonCalls
from mindtorch_v2.capture.thread_names import ThreadNames
from mindtorch_v2.events.event_list import EventList
from mindtorch_v2.events.profiler_result import _add_events, _stats_of
from mindtorch_v2.profiler._activity_config import ProfilerActivityConfig, is_activity_config, with_configs
from mindtorch_v2.profiler._config import as_ours, warn_without_effect, with_options
from mindtorch_v2.profiler._hosts import activate_hosts
from mindtorch_v2.profiler._memory_profile import memory_profile
from mindtorch_v2.profiler._options import Options
from mindtorch_v2.profiler.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import pandas

    from mindtorch_v2.base.enums import ProfilerActivity
    from mindtorch_v2.profiler._config import _ExperimentalConfig
    from mindtorch_v2.profiler.profiler import _ITraceObserver


_A_CENTURY_S = 100 * 365 * 24 * 3600
_TRACE_SUFFIX = re.compile(r"(\.pt)?(\.trace)?\.(json|json\.gz|pftrace|pftrace\.gz)$")
# To the logger, and by the words, that programs know from torch.
_TIMED_OUT = "The profiler timed out after %.3f seconds, returning partial results with 0 of %d events"


def _parse_activities(activities):
    """The activities of a mixed list, the groups of events that dictionaries in it limit them to, and what else these configure."""
    parsed, filters, extensions = [], {}, []
    try:
        items = iter(activities)
    except TypeError:
        raise TypeError(f"activities must be a list of ProfilerActivity members or of their names, got {activities!r}") from None
    for item in items:
        if isinstance(item, dict):
            for activity, names in item.items():
                parsed.append(activity)
                if is_activity_config(names):
                    extensions += names.profiler_configs
                    names = names.activity_types
                if names is not None:
                    filters[activity] = set(_group_names(names))  # no names: nothing of it
        else:
            parsed.append(item)
    return parsed, filters, extensions


def _group_names(names):
    """The names of event groups that an activity is limited to."""
    found = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [None]
    if not all(isinstance(name, str) for name in found):
        raise TypeError(f"activities: the event groups of an activity must be a list of names, got {names!r}")
    return found


def require_callable(option, value):
    """Raises a TypeError for what cannot be called, when it is given and not in the middle of the program."""
    if value is not None and not callable(value):
        raise TypeError(f"{option} must be callable, got {value!r}")


def _require_observer(observer):
    missing = [name for name in ("start", "stop", "cleanup") if not callable(getattr(observer, name, None))]
    if observer is not None and missing:
        raise TypeError(f"execution_trace_observer must have start(), stop() and cleanup(), got {observer!r}, which lacks {missing[0]}()")


def _timeout(seconds):
    if seconds is None or (not isinstance(seconds, str | bytes) and hasattr(type(seconds), "__float__")):
        return None if seconds is None else float(seconds)
    raise TypeError(f"post_processing_timeout_s must be a number of seconds or None, got {seconds!r}")


def _valid_text(text):
    """`text` with U+FFFD for halves of surrogate pairs, as they are in names; anything else but a str unchanged."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if isinstance(text, str) else text


def _checked_options(profile_class, given):
    """The keyword arguments that are options of ours. None means that the program does not say."""
    given = {name: value for name, value in given.items() if value is not None}
    for name in given.keys() - {option.name for option in fields(Options)}:
        raise TypeError(f"{profile_class.__name__}.__init__() got an unexpected keyword argument {name!r}")
    checked = Options(**given)
    return {name: getattr(checked, name) for name in given}


class _Replaceable:
    """An attribute that a program may replace by a value of its own, which nothing here uses."""

    def __init__(self, read):
        self._read = read
        self.__doc__ = read.__doc__

    def __get__(self, profile, owner=None):
        return self if profile is None else self._read(profile)


class _KinetoProfile(_C.Profile):
    """A profile without steps: start() records, stop() ends it. `profile` adds steps and schedules.

    Args:
        activities: ProfilerActivity members or their names; None: supported_activities(). A dict {activity: names} keeps only these
            groups of its events, by torch's names: "CPU_OP", "USER_ANNOTATION", "CONCURRENT_KERNEL", "GPU_MEMCPY", ... Instead of the names
            there may be a ProfilerActivityConfig.
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
        options: what torch.profiler does not have: `python_calls`, `keep_last_steps`, `spill_path`, ... Options describes each.
    """

    on_trace_ready = None
    has_cudagraphs = False
    _experimental_config = None
    mem_tl = None
    _made_events = None  # the lazy events of a trace, and the list of them that programs get
    _made_stats = None
    _collectives_before = None  # what the groups of torch.distributed had counted when the trace began
    _constructed = False
    _usual_python_calls = "off"  # of profiles that do not say
    _writes_recordings = False  # a recording beside each trace
    _exports_in_background = False
    _pending_exports = ()

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
        **options: Any,
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
            ours=options,
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
        ours,
        **options,
    ):
        self._options = _checked_options(type(self), ours)
        options = {name: bool(is_wanted) for name, is_wanted in options.items()}  # programs pass numbers and None too
        _require_observer(execution_trace_observer)
        require_callable("custom_trace_id_callback", custom_trace_id_callback)
        self._experimental_config = experimental_config
        self.preset_metadata = {}
        self.execution_trace_observer = execution_trace_observer
        self.custom_trace_id_callback = custom_trace_id_callback
        filters, extensions = {}, []
        if activities is not None:
            activities, filters, extensions = _parse_activities(activities)
        self._activity_filters = filters
        self._extensions = extensions
        config = with_options(with_configs(as_ours(experimental_config), extensions), self._options)
        self._garbage_collection = GarbageCollection() if config and config.record_python_gc_info else None
        calls = config.python_calls if config else "off"
        if calls == "off" and "python_calls" not in self._options:
            calls = self._usual_python_calls
        self.python_calls = calls == "all" or (calls == "stacks" and options["with_stack"])
        self._python_calls = PythonCalls() if self.python_calls else None
        self._thread_names = ThreadNames()
        self._data_loading = DataLoading() if config and config.sampling_interval_ms > 0 else None
        if config is not None:
            warn_without_effect(config)
            if config.enable_nvtx:
                nvtx.warn_if_lost()
        activate_hosts()
        _C.Profile.__init__(
            self,
            activities=activities,
            activity_filters=filters,
            schedule=schedule,
            experimental_config=config,
            with_modules=bool(with_modules) or self.python_calls,
            post_processing_timeout_s=_timeout(post_processing_timeout_s),
            **options,
        )
        self._constructed = True
        if self.with_stack and config and config.trace_only:  # refused, with a warning
            self._experimental_config = copy.copy(experimental_config)
            self._experimental_config.trace_only = False
        if any(getattr(type(self), name) is not own for name, own in _TRACE_CALLS.items()):
            self._make_trace_calls()

    def __reduce_ex__(self, protocol):
        """A profile that has recorded nothing yet is copied and pickled as its arguments and the attributes that a program has added."""
        if self.get_trace_id() is not None:
            raise TypeError("a profile that has recorded cannot be pickled: pickle its events()")
        options = {name: getattr(self, name) for name in _OPTIONS}
        configs = {activity: ProfilerActivityConfig(list(names)) for activity, names in self.activity_filters.items()}
        options["activities"] = [{activity: configs.get(activity) or ProfilerActivityConfig()} for activity in self.activities]
        next(iter(options["activities"][0].values())).profiler_configs = self._extensions
        options["ours"] = self._options
        added = {name: value for name, value in vars(self).items() if not name.startswith("_") and name not in _ATTRIBUTES}
        return _made_again, (type(self), getattr(self, "_schedule", None), options), added

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

    def snapshot(self, *, last_seconds: float | None = None) -> Recording:
        """What was recorded so far in the running trace, or in its last seconds. The trace goes on. Any thread may call it."""
        if last_seconds is not None and not 0 < last_seconds < math.inf:
            raise ValueError(f"last_seconds must be a positive number, got {last_seconds!r}")
        self._add_distributed_info()
        return Recording(self._snapshot() if last_seconds is None else self._snapshot(int(min(last_seconds, _A_CENTURY_S) * 1e9)))

    @property
    def activities(self) -> set[ProfilerActivity]:
        """What is recorded; a change takes effect with the next cycle."""
        return self._get_activities()

    @activities.setter
    def activities(self, activities: Iterable[ProfilerActivity | str]) -> None:
        self._set_activities(activities, self._activity_filters)

    @property
    def activity_filters(self) -> dict[ProfilerActivity, set[str]]:
        """The groups of events that activities are limited to; a change takes effect with the next cycle."""
        return self._activity_filters

    @activity_filters.setter
    def activity_filters(self, filters: dict[ProfilerActivity, set[str]]) -> None:
        self._set_activities(self.activities, filters)
        self._activity_filters = filters

    @property
    def experimental_config(self) -> _ExperimentalConfig | None:
        """The options that are not torch's common ones; other ones take effect with the next cycle."""
        return self._experimental_config

    @experimental_config.setter
    def experimental_config(self, config: _ExperimentalConfig | None) -> None:
        self._set_experimental_config(with_options(with_configs(as_ours(config), self._extensions), self._options))
        self._experimental_config = config

    @_Replaceable
    def use_device(self):
        """The device whose columns a table has."""
        return self._use_device()

    @_Replaceable
    def profiler(self):
        """This profile by the names of torch.autograd.profiler.profile; None before the first trace is prepared."""
        from mindtorch_v2.autograd import profiler

        return None if self.get_trace_id() is None else profiler.profile._of(self)

    def _stats(self):
        return None if self.get_trace_id() is None else self._stats_of_trace()

    def _stats_of_trace(self):
        """One object for each trace. What concerns events is in it once they have been asked for."""
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
            for key, value in self.preset_metadata.items():
                self.add_metadata_json(key, value)
        observers = [
            self._thread_names,
            self._data_loading,
            self._garbage_collection,
            self.execution_trace_observer,
            self._python_calls,
        ]
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
        """The same, before start; the values are in `preset_metadata`."""
        self.add_metadata_json(key, value)
        self.preset_metadata[key] = value

    def recording(self) -> Recording:
        """What was recorded in the last trace, or in all of them with acc_events. It stays as it is whatever the profile does later."""
        return self._recording_for("accessing the recording")

    def _recording_for(self, doing):
        recording = Recording(self._recording(doing))
        if self._made_events is None or not self._made_events[0].shares_events_with(recording._events()):
            self._made_events = recording._events(), recording.events()
        recording._event_list = self._made_events[1]
        return recording

    def events(self) -> EventList:
        """The recorded events, as an EventList of FunctionEvent objects that are made when they are looked at.

        It is the same list until another trace has been recorded, so what a program changes in it stays.
        """
        return self._events_within(self.post_processing_timeout_s)

    def _events_within(self, timeout_s):
        """The events, or none and a warning if there is no time for them: events are not parsed, so that any other time is enough."""
        began = time.perf_counter_ns()
        recording = self._recording_for("accessing events")
        if timeout_s == 0:
            logging.getLogger("torch.autograd.profiler").warning(_TIMED_OUT, timeout_s, recording.event_count)
            events = EventList(use_device=self.use_device, profile_memory=self.profile_memory, with_flops=self.with_flops)
            events._build_tree()
            return events
        events = recording.events()
        if self.get_trace_id() is not None and not self.recording_now:
            _add_events(self._stats_of_trace(), len(events), time.perf_counter_ns() - began)
        return events

    def key_averages(
        self,
        group_by_input_shape: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """Events of one name added up, as an EventList of FunctionEventAvg rows. Python calls are never among them."""
        self._recording("getting key averages")  # or says why there are none
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name, include_python_functions)

    def export_chrome_trace(
        self,
        path: str | os.PathLike,
        use_python_export: bool = False,
        cuda_graph_annotations: Mapping[int, Any] | None = None,
        graph_lanes: str = "none",
        default_stream: int = 7,
    ) -> None:
        """Writes the last cycle as Chrome's JSON; ".gz" is compressed, ".pftrace" is Perfetto's format. May be repeated.

        A file that cannot be written is a warning, as in torch; an OSError if it were compressed or Perfetto's. There is one exporter:
        `use_python_export` is accepted and changes nothing. Work of CUDA graphs names the ops that captured it, on the streams where it
        ran: `cuda_graph_annotations` and `graph_lanes` warn, and change nothing.
        """
        if cuda_graph_annotations or graph_lanes != "none":
            warn("cuda_graph_annotations and graph_lanes have no effect: work of CUDA graphs names the ops that captured it.")
        path = os.fsdecode(path)
        cycle = self._last_cycle("exporting chrome trace")  # this one, whatever is recorded while it is written
        if not self._exports_in_background:
            self._write_trace(cycle, path)
            return
        export = threading.Thread(target=self._write_trace, args=(cycle, path), name="mindtorch export")
        self._pending_exports = [*(each for each in self._pending_exports if each.is_alive()), export]
        try:
            export.start()
        except RuntimeError:  # the system has no thread to give
            self._pending_exports.remove(export)
            self._write_trace(cycle, path)

    def _write_trace(self, cycle, path):
        # The program that goes on meanwhile may close all descriptors. Some paths mean descriptors of its own.
        apart = self._exports_in_background and not path.startswith(("/dev/", "/proc/"))
        try:
            cycle._export_chrome_trace(path, apart)
            if self._writes_recordings:
                cycle._export(_TRACE_SUFFIX.sub("", path) + ".mtrec", apart)
        except OSError as error:
            if path.endswith((".gz", ".pftrace")) and not self._exports_in_background:  # torch's would fail, too
                raise
            warn(f"The trace was not written: {error.strerror}. Export it to another path.")

    def wait_for_exports(self) -> None:
        """Waits for exports of take_over(background=True). Any other export is complete when it returns."""
        for export in self._pending_exports:
            export.join()

    def take_pending_cuspy_export(self) -> None:
        """None: no export waits for somebody to finish it."""

    def counters(self) -> _C.Counters:
        """Memory and queued device work over time, as a table for pyarrow, polars, DuckDB and others that know Arrow's C interface."""
        return self._recording_for("getting counters").counters()

    def export_trace(self, path: str | os.PathLike) -> None:
        """Writes the last cycle in the format that the suffix of `path` names."""
        self._last_cycle("exporting trace")._export(os.fsdecode(path))

    def export_report(self, path: str | os.PathLike) -> None:
        """Writes one page for a browser about the last cycle: steps, findings, tables, flame graph, memory, timeline."""
        self._last_cycle("exporting trace")._report(os.fsdecode(path), None)

    def export_memory_timeline(self, path: str | os.PathLike, device: str | None = None) -> None:
        """Writes how much memory each category took at each moment: ".html" a page, ".json" and ".json.gz" numbers, "raw.json.gz" changes.

        `device` is "cpu", "npu:0", "cuda:1"; None: the first accelerator that reported memory, else the CPU.
        """
        self._check_memory_timeline()
        self._last_cycle("exporting memory timeline")._export_memory_timeline(os.fsdecode(path), device)

    def _memory_profile(self):
        """torch's analysis of the recorded memory: categories and versions of tensors."""
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
        self._check_stacks()
        self._recording("exporting stacks")._export_stacks(os.fsdecode(path), metric)


_OPTIONS = [name for name in inspect.signature(_KinetoProfile.__init__).parameters if name not in ("self", "options")]
_ATTRIBUTES = {*_OPTIONS, "python_calls"}  # which arguments set


def _made_again(of_class, schedule, options):
    made = of_class.__new__(of_class)
    made._schedule = schedule
    made._construct(schedule, **options)
    return made


# A subclass that has other methods of these names is asked for the calls that steps make.
_TRACE_CALLS = {name: vars(_KinetoProfile)[name] for name in ("prepare_trace", "start_trace", "stop_trace")}
