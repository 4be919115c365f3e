"""FunctionEvent: an event made by hand, and the base class of hand-made and recorded events."""

from abc import ABC
from collections import namedtuple

from mindtorch_v2 import _C
from mindtorch_v2.base.enums import DeviceType
from mindtorch_v2.base.warnings import warn
from mindtorch_v2.events.metadata import build_metadata

__all__ = ["FormattedTimesMixin", "FunctionEvent", "Interval", "Kernel"]


class Interval:
    """A time range [start, end) in microseconds."""

    def __init__(self, start, end):
        self.start = start
        self.end = end

    def elapsed_us(self):
        return self.end - self.start

    def __repr__(self):
        return f"Interval(start={self.start}, end={self.end})"


# Device work launched by an event; duration in microseconds.
Kernel = namedtuple("Kernel", ["name", "device", "duration"])


def _as_text(name):
    return property(lambda self: _C.format_time(getattr(self, name)))


def _deprecated(name, replacement, text="`{0}` is deprecated. Use `{1}` instead."):
    def read(self):
        warn(text.format(name, replacement), FutureWarning)
        return getattr(self, replacement)

    return property(read)


class FormattedTimesMixin(ABC):  # noqa: B024
    """Adds averages, and times as text, to classes with `count`, `cpu_time_total`, ... Recorded events and averages are of this type."""

    cpu_time_str = _as_text("cpu_time")
    device_time_str = _as_text("device_time")
    cpu_time_total_str = _as_text("cpu_time_total")
    device_time_total_str = _as_text("device_time_total")
    self_cpu_time_total_str = _as_text("self_cpu_time_total")
    self_device_time_total_str = _as_text("self_device_time_total")
    cuda_time = _deprecated("cuda_time", "device_time", "`{0}` is deprecated, please use `{1}` instead.")

    @property
    def cpu_time(self):
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self):
        return self.device_time_total / self.count if self.count else 0.0


_WITH_WORK = (DeviceType.CUDA, DeviceType.PrivateUse1, DeviceType.MTIA, DeviceType.HPU, DeviceType.XPU)


def _require_cpu(event, who=""):
    if event.device_type != DeviceType.CPU:
        raise AssertionError(f"Expected {who}device_type to be CPU")


def _require_event(other, who):
    if not isinstance(other, FunctionEvent):
        raise AssertionError(f"Expected {who} to be a FunctionEvent")
    _require_cpu(other, f"{who} ")


class FunctionEvent(FormattedTimesMixin):
    """One call: when, where, and what it took.

    Events of a recording come from events() and cannot be changed. An event made by hand has the values that its maker gave it. Lists of
    them, built with EventList([...]) and EventList._build_tree(), have tables and averages as recorded ones have. Times are microseconds.
    """

    def __init__(
        self,
        id,
        name,
        thread,
        start_us,
        end_us,
        overload_name=None,
        fwd_thread=None,
        input_shapes=None,
        stack=None,
        scope=0,
        use_device=None,
        cpu_memory_usage=0,
        device_memory_usage=0,
        is_async=False,
        is_remote=False,
        sequence_nr=-1,
        node_id=-1,
        device_type=DeviceType.CPU,
        device_index=0,
        device_resource_id=None,
        is_legacy=False,
        flops=None,
        trace_name=None,
        concrete_inputs=None,
        kwinputs=None,
        is_user_annotation=False,
        is_python_function=False,
        activity_type=None,
        metadata_json=None,
        flow_id=None,
        flow_type=None,
        flow_start=None,
        external_id=0,
        linked_correlation_id=0,
        extra_meta=None,
        structured_input_shapes=None,
        structured_input_strides=None,
        input_dtypes=None,
        python_id=-1,
        python_parent_id=-1,
        python_module_id=-1,
    ):
        arguments = dict(locals())
        for name_of_no_attribute in ("self", "start_us", "end_us", "extra_meta", "metadata_json"):
            del arguments[name_of_no_attribute]
        vars(self).update(arguments)
        self.time_range = Interval(start_us, end_us)
        self.device_type = DeviceType(device_type.value)  # torch's members are welcome
        self.device_resource_id = thread if device_resource_id is None else device_resource_id
        self.kernels = []
        self.count = 1
        self.cpu_children = []
        self.cpu_parent = None
        self.event_metadata = build_metadata(extra_meta) if extra_meta else None
        self._metadata_json = metadata_json
        self.self_cpu_percent = self.total_cpu_percent = self.total_device_percent = -1

    def append_kernel(self, name, device, duration):
        """Adds device work of `duration` microseconds that this event launched."""
        _require_cpu(self)
        self.kernels.append(Kernel(name, device, duration))

    def append_cpu_child(self, child):
        """Adds an event directly inside this one."""
        _require_cpu(self)
        _require_event(child, "child")
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        """Sets the event that directly contains this one."""
        _require_cpu(self)
        _require_event(parent, "parent")
        self.cpu_parent = parent

    @property
    def key(self):
        return self.name

    def _less_children(self, name):
        return getattr(self, name) - sum(getattr(child, name) for child in self.cpu_children)

    @property
    def _has_self(self):
        """Children are unknown for events that begin and end on different threads, and for device events."""
        return not self.is_async and self.device_type == DeviceType.CPU

    @property
    def cpu_time_total(self):
        return self.time_range.elapsed_us() if self.device_type == DeviceType.CPU else 0

    @property
    def self_cpu_time_total(self):
        return self._less_children("cpu_time_total") if self._has_self else 0

    @property
    def self_cpu_memory_usage(self):
        return self._less_children("cpu_memory_usage") if self._has_self else 0

    @property
    def self_device_memory_usage(self):
        return self._less_children("device_memory_usage") if self._has_self else 0

    @property
    def device_time_total(self):
        if self.is_async or not self.use_device:
            return 0
        if self.device_type == DeviceType.CPU:
            inside = [] if self.is_legacy else self.cpu_children  # the one kernel of a legacy event stands for all inside it
            return sum(kernel.duration for kernel in self.kernels) + sum(child.device_time_total for child in inside)
        if self.device_type not in _WITH_WORK:
            raise AssertionError(f"Expected device_type to be CUDA, PrivateUse1, MTIA, HPU or XPU, but got {self.device_type}")
        return self.time_range.elapsed_us()

    @property
    def self_device_time_total(self):
        if self.is_async or not self.use_device:
            return 0
        return self._less_children("device_time_total") if self.device_type == DeviceType.CPU else self.device_time_total

    cuda_time_total = _deprecated("cuda_time_total", "device_time_total")
    self_cuda_time_total = _deprecated("self_cuda_time_total", "self_device_time_total")
    self_cuda_memory_usage = _deprecated("self_cuda_memory_usage", "self_device_memory_usage")

    @property
    def metadata_json(self):
        warn("`metadata_json` is deprecated. Use `event_metadata` instead.", FutureWarning)
        return self._metadata_json

    def __repr__(self):
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} device_type={self.device_type} "
            f"node_id={self.node_id} cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {self.use_device}_time={self.device_time_str} "
            f"name={self.name} thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"{self.use_device}_memory_usage={self.device_memory_usage} is_async={self.is_async} is_remote={self.is_remote} "
            f"seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


FunctionEvent.register(_C.FunctionEvent)
FormattedTimesMixin.register(_C.FunctionEventAvg)
