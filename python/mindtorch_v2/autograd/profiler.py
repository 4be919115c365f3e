"""torch.autograd.profiler: the older interface of the profiler."""

import sys

from mindtorch_v2._C import is_profiler_enabled, random_trace_id, record_function
from mindtorch_v2.autograd.profiler_util import MEMORY_EVENT_NAME as MEMORY_EVENT_NAME
from mindtorch_v2.autograd.profiler_util import OUT_OF_MEMORY_EVENT_NAME as OUT_OF_MEMORY_EVENT_NAME
from mindtorch_v2.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg, MemRecordsAcc
from mindtorch_v2.base.enums import DeviceType as DeviceType
from mindtorch_v2.base.enums import ProfilerActivity
from mindtorch_v2.base.warnings import warn
from mindtorch_v2.compat.profiler_config import ProfilerConfig, ProfilerState
from mindtorch_v2.compat.vendor_tools import emit_itt, emit_nvtx, load_nvprof, parse_nvprof_trace
from mindtorch_v2.events.profiler_result import _ProfilerResult
from mindtorch_v2.events.profiler_result import _ProfilerStats as _ProfilerStats
from mindtorch_v2.profiler._config import _ExperimentalConfig
from mindtorch_v2.profiler._kineto_profile import _KinetoProfile
from mindtorch_v2.profiler._step_tracker import KinetoStepTracker
from mindtorch_v2.profiler.profiler import kineto_available as kineto_available
from mindtorch_v2.profiler.profiler import supported_activities
from mindtorch_v2.torch_bridge.compilers import introduce_profile

__all__ = [
    "EnforceUnique",
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "KinetoStepTracker",
    "MemRecordsAcc",
    "emit_itt",
    "emit_nvtx",
    "load_nvprof",
    "parse_nvprof_trace",
    "profile",
    "record_function",
]


def __getattr__(name):
    if name == "_is_profiler_enabled":  # asked for each time: it changes
        return is_profiler_enabled()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_ACTIVITY_OF_DEVICE = {
    "cuda": ProfilerActivity.CUDA,
    "npu": ProfilerActivity.NPU,
    "privateuseone": ProfilerActivity.NPU,
}
_DEVICES_OF_TORCH = ("cuda", "xpu", "mtia", "hpu", "npu", "privateuseone")


def _is_other_backend(use_device):
    """Whether it is the name that the program has given to torch's backend for other devices."""
    theirs = sys.modules.get("torch.autograd.profiler")
    name = getattr(theirs, "_get_privateuse1_backend_name", lambda: None)()
    return use_device is not None and use_device == name and name not in _DEVICES_OF_TORCH


def _checked_device(use_device):
    """`use_device` if it can be recorded, else None; torch's warnings say why."""
    if use_device is None:
        return None
    if _is_other_backend(use_device):
        return use_device
    if use_device not in _DEVICES_OF_TORCH:
        warn(f"The {use_device} is not a valid device option.")
        return None
    if use_device == "mtia":
        raise AssertionError("Legacy MTIA profiling is not supported. Requires use_kineto=True on MTIA devices.")
    if _ACTIVITY_OF_DEVICE.get(use_device) not in supported_activities():
        name = use_device.upper()
        warn(f"{name} is not available, disabling {name} profiling")
        return None
    return use_device


class profile:
    """Records what runs in its `with` block. New programs use mindtorch_v2.profiler.profile.

    Args:
        enabled: False: the block is not recorded.
        use_cuda: deprecated, use `use_device="cuda"`.
        use_device: "cuda" or "npu" records that device too.
        use_kineto: accepted; there is one profiler.
        use_cpu: False records the device alone.
        activity_filters: {activity: names}: of that activity only these groups of events.

    All other arguments are those of mindtorch_v2.profiler.profile.
    """

    _made_trace_id = None
    _use_kineto = True

    def __init__(
        self,
        enabled=True,
        *,
        use_cuda=False,
        use_device=None,
        record_shapes=False,
        with_flops=False,
        profile_memory=False,
        with_stack=False,
        with_modules=False,
        use_kineto=False,
        use_cpu=True,
        experimental_config=None,
        acc_events=False,
        custom_trace_id_callback=None,
        post_processing_timeout_s=None,
        activity_filters=None,
    ):
        self.enabled = enabled
        if not enabled:
            return
        if use_cuda:
            warn("The attribute `use_cuda` will be deprecated soon, please use ``use_device = 'cuda'`` instead.", FutureWarning)
            use_device = "cuda"
        if not use_cpu and not use_kineto:
            raise AssertionError("Device-only events supported only with Kineto (use_kineto=True)")
        self.use_cuda = use_cuda
        self.use_device = _checked_device(use_device)
        self.use_cpu = use_cpu
        self.entered = False
        self.activity_filters = activity_filters or {}
        activities = [ProfilerActivity.CPU] if use_cpu else []
        self._use_kineto = use_kineto
        if self.use_device in _ACTIVITY_OF_DEVICE:
            activities.append(_ACTIVITY_OF_DEVICE[self.use_device])
        if not activities:
            raise AssertionError("No activities specified for the profiler")
        self._profile = _KinetoProfile(
            activities=[{a: self.activity_filters[a]} if a in self.activity_filters else a for a in activities],
            record_shapes=record_shapes or with_flops,
            with_flops=with_flops,
            profile_memory=profile_memory,
            with_stack=with_stack,
            with_modules=with_modules,
            experimental_config=experimental_config,
            acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback,
            post_processing_timeout_s=post_processing_timeout_s,
        )

    @classmethod
    def _of(cls, kineto_profile):
        """The older interface of a profile of mindtorch_v2.profiler."""
        face = cls.__new__(cls)
        face.enabled = True
        face.entered = True
        face.use_device = kineto_profile.use_device
        face.use_cuda = face.use_device == "cuda"
        face.use_cpu = ProfilerActivity.CPU in kineto_profile.activities
        face.activity_filters = kineto_profile.activity_filters
        face._profile = kineto_profile
        return face

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._profile.start()
        self._made_trace_id = None
        self.entered = True
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if not self.enabled:
            return None
        self._profile.stop()
        return False

    def __repr__(self):
        return repr(self.function_events) if self._finished else "<unfinished torch.autograd.profile>"

    def __str__(self):
        return str(self.function_events) if self._finished else "<unfinished torch.autograd.profile>"

    # What was asked for is known to the profile behind this one.
    record_shapes = property(lambda self: self._profile.record_shapes)
    with_flops = property(lambda self: self._profile.with_flops)
    profile_memory = property(lambda self: self._profile.profile_memory)
    with_stack = property(lambda self: self._profile.with_stack)
    with_modules = property(lambda self: self._profile.with_modules)
    acc_events = property(lambda self: self._profile.acc_events)
    experimental_config = property(lambda self: self._profile.experimental_config or _ExperimentalConfig())
    custom_trace_id_callback = property(lambda self: self._profile.custom_trace_id_callback)
    post_processing_timeout_s = property(lambda self: self._profile.post_processing_timeout_s)
    kineto_activities = property(lambda self: self._profile.activities)
    _stats = property(lambda self: self._profile._stats_of_trace())

    @property
    def _finished(self):
        return self.enabled and self._profile.get_trace_id() is not None and not self._profile.recording_now

    @property
    def trace_id(self):
        """The id of the current or last trace, or the one that config(create_trace_id=True) made since; "" before the first."""
        return self._made_trace_id or self._profile.get_trace_id() or ""

    def default_trace_id(self):
        """A random id."""
        return random_trace_id()

    def create_trace_id(self):
        """The result of custom_trace_id_callback, or a random id."""
        return self.custom_trace_id_callback() if self.custom_trace_id_callback else self.default_trace_id()

    def config(self, create_trace_id=False):
        """The configuration of this profile. With `create_trace_id`, it has a new trace_id until a trace is started."""
        if create_trace_id:
            self._made_trace_id = self.create_trace_id()
        return ProfilerConfig(
            self.profiler_kind,
            self.record_shapes,
            self.profile_memory,
            self.with_stack,
            self.with_flops,
            self.with_modules,
            self.experimental_config,
            self.trace_id,
        )

    @property
    def profiler_kind(self):
        if _is_other_backend(self.use_device):
            return ProfilerState.KINETO_PRIVATEUSE1 if self._use_kineto else ProfilerState.KINETO_PRIVATEUSE1_FALLBACK
        return ProfilerState.KINETO_PRIVATEUSE1 if self.use_device == "npu" else ProfilerState.KINETO

    @property
    def profiling_start_time_ns(self):
        """When the last trace began, by time.perf_counter_ns(); 0 before the first."""
        return self._profile.overhead().window_start_ns

    @property
    def profiling_end_time_ns(self):
        """When it ended; 0 while it runs."""
        overhead = self._profile.overhead()
        return overhead.window_start_ns + overhead.window_ns if overhead.window_ns else 0

    @property
    def kineto_results(self):
        return _ProfilerResult(self._profile) if self._finished else None

    @property
    def function_events(self):
        """The recorded events; an empty list before the first trace."""
        if self._profile.get_trace_id() is not None:
            return self._profile.events()
        nothing = EventList(use_device=self.use_device, profile_memory=self.profile_memory, with_flops=self.with_flops)
        nothing._build_tree()
        return nothing

    def _parse_kineto_results(self, result, timeout_s=None):
        """The events of `result`, which is kineto_results. Programs that use torch's private parser call it."""
        if timeout_s is not None and timeout_s < 0:
            raise ValueError("timeout_s must be non-negative")
        return self._profile._events_within(timeout_s)

    @property
    def self_cpu_time_total(self):
        return self.function_events.self_cpu_time_total

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_src_column_width=75,
        max_name_column_width=55,
        max_shapes_column_width=80,
        header=None,
        top_level_events_only=False,
    ):
        """The events as a table, see EventList.table."""
        return self.function_events.table(
            sort_by,
            row_limit,
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
        )

    def export_chrome_trace(
        self, path, metadata=None, use_python_export=False, cuda_graph_annotations=None, graph_lanes="none", default_stream=7
    ):
        """Writes the trace; `metadata` maps top-level keys to JSON texts."""
        for key, value in (metadata or {}).items():
            self._profile.add_metadata_json(key, value)
        self._profile.export_chrome_trace(path, use_python_export, cuda_graph_annotations, graph_lanes, default_stream)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        self._profile.export_stacks(path, metric)

    def toggle_collection_dynamic(self, enabled, activities):
        self._profile.toggle_collection_dynamic(enabled, activities)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False, include_python_functions=False):
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name, include_python_functions)

    def total_average(self):
        return self.function_events.total_average()


introduce_profile(profile)


class EnforceUnique:
    """Raises RuntimeError if a key is seen twice."""

    def __init__(self):
        self.seen = set()

    def see(self, *key):
        if key in self.seen:
            raise RuntimeError(f"duplicate key: {key}")
        self.seen.add(key)
