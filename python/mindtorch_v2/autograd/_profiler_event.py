"""_ProfilerEvent: a node of the tree of raw events, with the attributes of torch's C++ class."""

import sys
from dataclasses import dataclass, field
from typing import Any

from mindtorch_v2.profiler._enums import RecordScope

__all__ = ["_ExtraFields", "_ProfilerEvent"]


def _torchs(name):
    """torch's class of this name, or None without torch."""
    torch = sys.modules.get("torch")
    return getattr(torch._C._profiler, name, None) if torch is not None and hasattr(torch, "_C") else None


class _ExtraFields:
    """What an event has besides its name and time, by torch's names. isinstance() takes it for torch's class of the same kind."""

    def __init__(self, tag, **values):
        self._tag = tag
        self.__dict__.update(values)

    @property
    def __class__(self):
        return _torchs(f"_ExtraFields_{self._tag}") or _ExtraFields

    def __repr__(self):
        values = ", ".join(f"{key}={value!r}" for key, value in self.__dict__.items() if key != "_tag")
        return f"_ExtraFields_{self._tag}({values})"


@dataclass(frozen=True)
class _FrameState:
    """A place in a Python file."""

    file_name: str = ""
    line_number: int = 0
    function_name: str = ""

    @classmethod
    def of_name(cls, name):
        """From the name of a Python call: "train.py(12): step"."""
        place, _, function = name.partition(": ")
        file, _, line = place.rstrip(")").rpartition("(")
        return cls(file, int(line), function) if line.isdigit() else cls(function_name=name)


@dataclass(eq=False)
class _ProfilerEvent:
    """A call of an op, a scope, a Python function, or an allocation. Nodes of threads are in `children` of what was open around them."""

    name: str
    kind: str  # "TorchOp", "PyCall", "PyCCall", "Allocation", "Kineto"
    start_time_ns: int
    end_time_ns: int
    start_tid: int
    extra_fields: Any = None
    overload_name: str = ""
    correlation_id: int = 0
    is_derived: bool = False  # a Python function that is known from the stacks of ops: it begins with the first and ends with the last
    parent: Any = field(default=None, repr=False)
    children: list = field(default_factory=list, repr=False)

    @property
    def id(self):
        return self.correlation_id

    @property
    def tag(self):
        """torch's _EventType if torch is imported, else the name of the kind."""
        types = _torchs("_EventType")
        return getattr(types, self.kind) if types is not None else self.kind

    @property
    def typed(self):
        return self.tag, self.extra_fields

    @property
    def duration_time_ns(self):
        return self.end_time_ns - self.start_time_ns

    def adopt(self, child):
        child.parent = self
        self.children.append(child)


def of_op(event, base_ns):
    scope = RecordScope(event.scope)
    fields = _ExtraFields(
        "TorchOp", name=event.trace_name, sequence_number=event.sequence_nr, allow_tf32_cublas=False, scope=scope, inputs=_inputs(event)
    )
    return _node(event, "TorchOp", base_ns, fields)


def of_python_call(event, base_ns):
    if event.trace_name.startswith("<"):
        return _node(event, "PyCCall", base_ns, _ExtraFields("PyCCall", caller=_FrameState()))
    callsite = _FrameState.of_name(event.trace_name)
    return _node(event, "PyCall", base_ns, _ExtraFields("PyCall", callsite=callsite, caller=_FrameState(), module=None, optimizer=None))


def of_device_work(event, base_ns):
    return _node(event, "Kineto", base_ns, _ExtraFields("Kineto"))


def _node(event, kind, base_ns, fields):
    return _ProfilerEvent(
        event.trace_name,
        kind,
        base_ns + event.start_ns,
        base_ns + event.end_ns,
        event.thread,
        fields,
        event.overload_name,
        event.id,
    )


def of_frame(file, line, function, start_ns, thread):
    """A Python function that is known from the stack of an op."""
    callsite = _FrameState(file, line, function)
    fields = _ExtraFields("PyCall", callsite=callsite, caller=_FrameState(), module=None, optimizer=None)
    return _ProfilerEvent(f"{file}({line}): {function}", "PyCall", start_ns, start_ns, thread, fields, is_derived=True)


def of_memory_report(report, base_ns):
    time_ns, thread, address, size, device_type, device_index, allocated, reserved = report
    fields = _ExtraFields(
        "Allocation",
        ptr=address,
        id=None,
        allocation_id=None,
        alloc_size=size,
        total_allocated=allocated,
        total_reserved=reserved,
        device=(device_type, device_index),
    )
    return _ProfilerEvent("[memory]", "Allocation", base_ns + time_ns, base_ns + time_ns, thread, fields)


class _TensorMetadata:
    """What is known of a tensor that was an argument: its shape and type. isinstance() takes it for torch's class of this name."""

    impl_ptr = storage_data_ptr = id = allocation_id = None

    def __init__(self, sizes, strides, dtype):
        self.sizes, self.strides, self.dtype = sizes, strides, dtype

    @property
    def __class__(self):
        return _torchs("_TensorMetadata") or _TensorMetadata


def _inputs(event):
    """One item for each argument: tensors, lists of tensors, scalars; None for anything else."""
    shapes, strides = event.structured_input_shapes, event.structured_input_strides
    found = []
    for i, kind in enumerate(event.input_dtypes):
        if kind == "TensorList":
            found.append([_TensorMetadata(*item, None) for item in zip(shapes[i], strides[i], strict=False)])
        elif kind in ("", "Scalar", "ScalarList", "String") or i >= len(shapes):
            found.append(event.concrete_inputs[i] if i < len(event.concrete_inputs) else None)
        else:
            found.append(_TensorMetadata(shapes[i], strides[i] if i < len(strides) else [], kind))
    return found
