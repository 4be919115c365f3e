"""_ProfilerEvent: a node of the tree of raw events, with the attributes of torch's C++ class."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mindtorch_v2.base.enums import RecordScope
from mindtorch_v2.events.tensor_metadata import _TensorMetadata, torchs_class, torchs_device

__all__ = ["_ExtraFields", "_ProfilerEvent"]


class _ExtraFields:
    """What an event has besides its name and time, by torch's names. isinstance() takes it for torch's class of the same kind."""

    def __init__(self, tag, **values):
        self._tag = tag
        self.__dict__.update(values)

    @property
    def __class__(self):
        return torchs_class(f"_ExtraFields_{self._tag}") or _ExtraFields

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
    _fields: Any = field(default=None, repr=False)  # the _ExtraFields, or a function that makes them
    overload_name: str = ""
    correlation_id: int = 0
    is_derived: bool = False  # a Python function that is known from the stacks of ops: it begins with the first and ends with the last
    parent: Any = field(default=None, repr=False)
    children: list = field(default_factory=list, repr=False)

    @property
    def id(self):
        """Unique among the nodes. That of an op is the id of its event. Other nodes have none of their own, and are told apart by the
        address, as torch tells apart all its nodes."""
        return self.correlation_id if self.kind == "TorchOp" else id(self)

    @property
    def extra_fields(self):
        """Those of an op are made when they are asked for: many trees are read for their names and times alone."""
        if isinstance(self._fields, partial):
            self._fields = self._fields()
        return self._fields

    @property
    def tag(self):
        """torch's _EventType if torch is imported, else the name of the kind."""
        types = torchs_class("_EventType")
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


def of_op(event, base_ns, arguments):
    return _node(event, "TorchOp", base_ns, partial(_op_fields, event, arguments))


def _op_fields(event, arguments):
    return _ExtraFields(
        "TorchOp",
        name=event.trace_name,
        sequence_number=event.sequence_nr,
        allow_tf32_cublas=False,
        scope=RecordScope(event.scope),
        inputs=[_argument(each) for each in arguments],
    )


def of_python_call(event, base_ns, owners, tensors):
    """`tensors` are those of a module or of an optimizer; `owners` knows them from its first call on."""
    name = event.trace_name
    if name.startswith("<"):
        return _node(event, "PyCCall", base_ns, _ExtraFields("PyCCall", caller=_FrameState()))
    module = owners.module(name, tensors) if event.kind == "module" else None
    optimizer = owners.optimizer(tensors) if tensors and module is None else None
    return _node(event, "PyCall", base_ns, _py_call(_FrameState.of_name(name), module, optimizer))


def _py_call(callsite, module=None, optimizer=None):
    return _ExtraFields("PyCall", callsite=callsite, caller=_FrameState(), module=module, optimizer=optimizer)


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


def of_frame(file, line, function, start_ns, end_ns, thread):
    """A Python function that is known from the stack of an op."""
    fields = _py_call(_FrameState(file, line, function))
    return _ProfilerEvent(f"{file}({line}): {function}", "PyCall", start_ns, end_ns, thread, fields, is_derived=True)


def of_memory_report(report, base_ns, numbers):
    time_ns, thread, address, size, device_type, device_index, allocated, reserved = report
    tensor, allocation = numbers
    fields = _ExtraFields(
        "Allocation",
        ptr=address,
        id=tensor,
        allocation_id=allocation,
        alloc_size=size,
        total_allocated=allocated,
        total_reserved=reserved,
        device=torchs_device(device_type.value, device_index),
    )
    return _ProfilerEvent("[memory]", "Allocation", base_ns + time_ns, base_ns + time_ns, thread, fields)


def _argument(value):
    """An argument as torch keeps it: tensors, lists of tensors, numbers; None for anything else."""
    if isinstance(value, tuple):
        return _TensorMetadata(value)
    if isinstance(value, list):
        return [_TensorMetadata(each) for each in value]
    return None if isinstance(value, str) else value
