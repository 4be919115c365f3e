"""Recordings as spans of OpenTelemetry: steps, the scopes inside of them, collectives, and ops if they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindtorch_v2.base.distributed import rank_of_environment
from mindtorch_v2.profiler.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_STEP = "ProfilerStep"
_MOST_SPANS = 10_000
_COLLECTIVES = ("gloo:", "mpi:", "ucc:", "nccl:", "hccl:")


def _attributes(event: Any) -> dict[str, Any]:
    rank = rank_of_environment()
    return {
        "mindtorch.kind": "collective" if event.name.startswith(_COLLECTIVES) else event.kind,
        "mindtorch.step": event.step,
        "thread.id": event.thread,
        **({} if rank is None else {"mindtorch.rank": rank}),
    }


def _name(event: Any) -> str:
    return f"step {event.step}" if event.name.startswith(_STEP) else event.name


def _wanted(events: Any, ops: bool) -> Iterator[Any]:
    """Scopes of the host, and ops if they are wanted. A parent comes before its children."""
    for event in events:
        if event.device_type.name == "CPU" and not event.is_async and (event.kind == "scope" or (ops and event.kind == "op")):
            yield event


def opentelemetry_trace_handler(tracer_provider: Any = None, *, ops: bool = False, most: int = _MOST_SPANS) -> Callable[[Any], None]:
    """An on_trace_ready that hands each recording to OpenTelemetry's SDK as spans, by default to the global tracer provider.

    Each step is a trace of its own, with a span for the step and spans for the scopes and collectives inside of it; with `ops` also for
    ops. At most `most` spans are made of a recording, and the rest is counted in the attribute "mindtorch.spans_left_out" of the last
    one. Needs the package opentelemetry-api.
    """
    try:
        from opentelemetry import trace as api
    except ImportError:
        raise ImportError("opentelemetry_trace_handler needs the package opentelemetry-api: pip install opentelemetry-sdk") from None
    tracer = (tracer_provider or api.get_tracer_provider()).get_tracer("mindtorch.profiler")

    def emit(prof: Any) -> None:
        events = (prof if isinstance(prof, Recording) else prof.recording())._events()
        base = events.base_unix_ns
        wanted = list(_wanted(events, ops))
        left_out = max(0, len(wanted) - most)
        spans: dict[int, Any] = {}  # of events, by their id; a child looks for its parent here
        for event in wanted[:most]:
            parent = event.cpu_parent
            while parent is not None and parent.id not in spans:
                parent = parent.cpu_parent
            context = api.set_span_in_context(spans[parent.id] if parent is not None else api.INVALID_SPAN)
            spans[event.id] = tracer.start_span(_name(event), context, start_time=base + event.start_ns, attributes=_attributes(event))
        if left_out and spans:
            spans[wanted[most - 1].id].set_attribute("mindtorch.spans_left_out", left_out)
        for event in wanted[:most]:
            spans[event.id].end(base + event.end_ns)

    return emit
