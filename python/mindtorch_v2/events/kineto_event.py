"""_KinetoEvent: an event with the methods of torch's C++ class, for programs that read raw events."""

from collections.abc import Sequence

from mindtorch_v2.events.metadata import metadata_json

__all__ = ["_KinetoEvent", "_KinetoEvents"]


class _KinetoEvent:
    """The attributes of FunctionEvent as methods. Times are Unix nanoseconds."""

    def __init__(self, event, base_unix_ns):
        self._event = event
        self._base_unix_ns = base_unix_ns

    def start_ns(self):
        return self._base_unix_ns + self._event.start_ns

    def end_ns(self):
        return self._base_unix_ns + self._event.end_ns

    def nbytes(self):
        """The bytes of a memory report outside of any op; 0 for other events."""
        event = self._event
        return event.cpu_memory_usage + event.device_memory_usage if event.name == "[memory]" else 0

    def extra_meta(self):
        return {key: str(value) for key, value in self._event.attributes.items()}

    def metadata_json(self):
        return metadata_json(self._event.id, self._event._index_in_trace, self._event.attributes)

    def is_hidden_event(self):
        return False

    def cuda_elapsed_us(self):
        """Always -1, because device time is in separate events."""
        return -1

    privateuse1_elapsed_us = cuda_elapsed_us

    def __repr__(self):
        return f"<_KinetoEvent of {self._event!r}>"


def _reader(attribute):
    return lambda self: getattr(self._event, attribute)


# Methods that have another name than the attribute, then those that have the same.
_ATTRIBUTES = {
    "name": "trace_name",
    "correlation_id": "id",
    "start_thread_id": "thread",
    "end_thread_id": "thread",
    "fwd_thread_id": "fwd_thread",
    "shapes": "input_shapes",
    "dtypes": "input_dtypes",
}
_SAME = """activity_type concrete_inputs device_index device_resource_id device_type duration_ns external_id flops flow_id flow_start
flow_type is_async is_python_function is_user_annotation kwinputs linked_correlation_id overload_name python_id python_module_id
python_parent_id scope sequence_nr stack structured_input_shapes structured_input_strides"""
for _method, _attribute in {**_ATTRIBUTES, **{name: name for name in _SAME.split()}}.items():
    setattr(_KinetoEvent, _method, _reader(_attribute))


class _KinetoEvents(Sequence):
    """Raw events, made when they are looked at."""

    def __init__(self, events, base_unix_ns):
        self._events = events
        self._base_unix_ns = base_unix_ns

    def __len__(self):
        return len(self._events)

    def __getitem__(self, index):
        found = self._events[index]
        if isinstance(index, slice):
            return _KinetoEvents(found, self._base_unix_ns)
        return _KinetoEvent(found, self._base_unix_ns)
