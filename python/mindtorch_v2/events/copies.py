"""Copies of recorded events, which have the same values and do not need the recording. Pickles and copies of events are made of them."""

import inspect
import json

from mindtorch_v2.events.function_event import FunctionEvent
from mindtorch_v2.events.metadata import metadata_json

_GIVEN = {"self", "start_us", "end_us", "metadata_json", "extra_meta"}
_SAME = [name for name in inspect.signature(FunctionEvent.__init__).parameters if name not in _GIVEN]


def copy_of(event):
    """A hand-made event with the recorded values of an event, and copies of the events inside it."""
    made = FunctionEvent(
        **{name: getattr(event, name, None) for name in _SAME},
        start_us=event.time_range.start,
        end_us=event.time_range.end,
        metadata_json=metadata_json(event.id, event._index_in_trace, event.attributes),
        extra_meta={key: value if isinstance(value, str) else json.dumps(value) for key, value in event.attributes.items()},
    )
    made.kernels = list(event.kernels)
    for child in event.cpu_children:
        inside = copy_of(child)
        inside.set_cpu_parent(made)
        made.append_cpu_child(inside)
    return made
