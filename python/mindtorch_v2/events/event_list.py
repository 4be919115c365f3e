"""EventList: the list that events() and key_averages() return."""

from __future__ import annotations

import copyreg
import json
import os
import sys
from collections import UserList
from functools import partial
from typing import TYPE_CHECKING, Any

from mindtorch_v2 import _C
from mindtorch_v2.base.enums import RecordScope
from mindtorch_v2.base.warnings import warn
from mindtorch_v2.events import html
from mindtorch_v2.events.copies import copy_of

if TYPE_CHECKING:
    import pandas

__all__ = ["EventList"]


class EventList(UserList):
    """A list of FunctionEvent or FunctionEventAvg objects.

    Events of a recording are made when they are looked at: indexing, slicing and iterating make only the objects asked for. What
    changes the list, or compares it with another, turns it into an ordinary one first.
    """

    def __init__(self, items=(), *, use_device=None, profile_memory=False, with_flops=False):
        self._lazy = self._source = None
        self._items = list(items)
        self._context = _C.TableContext(profile_memory, with_flops)
        self._use_device = use_device
        self._tree_built = False

    @classmethod
    def _of(cls, rows, context, use_device, tree_built):
        """A list over `rows`, an EventSequence that stays lazy or a list."""
        made = cls.__new__(cls)
        lazy = isinstance(rows, _C.EventSequence)
        made._lazy, made._items = (rows, None) if lazy else (None, rows)
        made._source = made._lazy  # keeps the objects of events, so that they stay the same
        made._context = context
        made._use_device = use_device
        made._tree_built = tree_built
        return made

    @classmethod
    def _of_events(cls, events):
        return cls._of(events, _C.table_context(events), events.use_device, tree_built=True)

    def _like(self, rows, tree_built):
        return self._of(rows, self._context, self._use_device, tree_built)

    @property
    def data(self):
        """The events as a real list, in which every object is made."""
        if self._items is None:
            self._items = self._lazy.tolist()
            self._lazy = None
        return self._items

    @property
    def _rows(self):
        return self._lazy if self._items is None else self._items

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, index):
        found = self._rows[index]
        return self._like(found, self._tree_built) if isinstance(index, slice) else found

    def __iter__(self):
        return iter(self._rows)

    def copy(self):
        return list(self._rows)

    # Sums and products are plain lists, as those of torch's lists are.

    def __add__(self, other):
        return self.copy() + (list(other) if isinstance(other, UserList) else other)

    def __radd__(self, other):
        return other + self.copy()

    def __mul__(self, count):
        return self.copy() * count

    __rmul__ = __mul__

    def __iadd__(self, other):
        self.data.extend(list(other))  # a list of its own, because `other` may be this list
        return self

    def __imul__(self, count):
        self.data[:] = self.data * count
        return self

    def __copy__(self):
        return self._like(self._lazy if self._items is None else list(self._items), self._tree_built)

    def __reduce__(self):
        options = {"use_device": self._use_device, "profile_memory": self._profile_memory, "with_flops": self._with_flops}
        return partial(EventList, **options), (self.data,)

    def __str__(self):
        return self.table()

    # torch's names. Events of a recording know their relations already; these functions relate events that were made by hand.

    def _build_tree(self):
        self._populate_cpu_children()
        self._remove_dup_nodes()
        self._set_backward_stacktraces()
        self._tree_built = True

    def _populate_cpu_children(self):
        if self._items is not None:
            _C.nest_events(self._items)

    def _remove_dup_nodes(self):
        if self._items is not None:
            self._items = _C.without_repeated_calls(self._items)

    def _set_backward_stacktraces(self):
        """Gives events of the backward pass the stack of their forward call, the first in the list with the same number and thread."""
        events = [] if self._items is None else [event for event in self._items if not isinstance(event, _C.FunctionEvent)]
        nodes = [_backward_node(event) for event in events]
        stacks = {}
        for event, node in zip(events, nodes, strict=True):
            if node is None and event.stack is not None:
                stacks.setdefault((event.sequence_nr, event.thread), event.stack)
        for event, node in zip(events, nodes, strict=True):
            if node is None:
                continue
            if node.fwd_thread is None:
                raise AssertionError("Expected fwd_thread to be set for backward parent")
            event.stack = stacks.get((node.sequence_nr, node.fwd_thread), [])

    def _build_rows(self):
        """Averages as dictionaries."""
        return [row._row for row in self._rows]

    @property
    def _profile_memory(self):
        return self._context.profile_memory

    @property
    def _with_flops(self):
        return self._context.with_flops

    @property
    def self_cpu_time_total(self) -> float:
        return self.total_average().self_cpu_time_total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int | None = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The list as a table: torch's text, and a last line that says how much was counted and lost.

        Args:
            sort_by: attribute to sort by, largest first; None keeps the order of the list.
            row_limit: how many rows are shown; negative or None: all.
            max_src_column_width, max_name_column_width, max_shapes_column_width: None: as wide as needed.
            header: a line above the table.
            top_level_events_only: leave out events that lie inside another.
            time_unit: "s", "ms" or "us" for every time; None lets each choose.
        """
        return _C.table(
            self._rows,
            self._context,
            sort_by,
            _limit(row_limit),
            max_src_column_width,
            max_name_column_width,
            max_shapes_column_width,
            header,
            bool(top_level_events_only),
            time_unit,
        )

    def key_averages(
        self,
        group_by_input_shapes: bool = False,
        group_by_stack_n: int = 0,
        group_by_overload_name: bool = False,
        include_python_functions: bool = False,
    ) -> EventList:
        """The events grouped by name, as an EventList of FunctionEventAvg rows. Python calls are never among them."""
        if include_python_functions:
            warn("include_python_functions has no effect: Python calls are in events(), in traces and in the tree of events.")
        if not self._tree_built:
            raise AssertionError("Expected tree to be built before calling key_averages")
        rows = _C.key_averages(self._rows, bool(group_by_input_shapes), group_by_stack_n, bool(group_by_overload_name))
        return self._like(rows, tree_built=False)

    def total_average(self) -> _C.FunctionEventAvg:
        """The sum of all events, with the key "Total"."""
        return _C.total_average(self._rows)

    def supported_export_stacks_metrics(self) -> list[str]:
        return _C.supported_export_stacks_metrics()

    def export_stacks(self, path: str | os.PathLike, metric: str) -> None:
        """Writes "outermost;...;innermost <microseconds>" lines, the input of flame graph tools."""
        _C.export_stacks(self._rows, os.fspath(path), metric)

    def export_chrome_trace(self, path: str | os.PathLike) -> None:
        """Writes a plain list of events in Chrome's format; profile.export_chrome_trace() writes a whole trace."""
        _C.export_list_trace(self._rows, os.fspath(path), self._use_device or "cuda")

    def to_dict(self) -> dict[str, Any]:
        """The rows, their total and the losses, as dictionaries."""
        return json.loads(_C.to_json(self._rows, self._context))

    def to_csv(self, path: str | os.PathLike | None = None) -> str | None:
        """The rows as CSV (RFC 4180): written to `path`, or returned."""
        text = _C.to_csv(self._rows, self._context)
        if path is None:
            return text
        _C.write_text(os.fspath(path), text)
        return None

    def to_pandas(self) -> pandas.DataFrame:
        """The list as a pandas.DataFrame with one row per event or average."""
        import pandas

        if self._items is not None:
            return pandas.DataFrame(self.to_dict()["rows"])
        columns = _C.event_columns(self._lazy)
        for name, column in columns.items():
            if isinstance(column, tuple):
                columns[name] = pandas.Categorical.from_codes(*column)
        return pandas.DataFrame(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The list as a table for pyarrow, polars, DuckDB and others that know Arrow's C interface; see docs/report.md for its columns.

        `requested_schema` is accepted and changes nothing: consumers convert what they get.
        """
        return _C.arrow_stream(self._rows)

    def _repr_html_(self) -> str:
        """The table as HTML for a notebook."""
        rows, summed = self._rows, self
        if self._items is None:
            summed = self.key_averages()
        else:
            rows = sorted(rows, key=lambda row: row.self_cpu_time_total, reverse=True)
        footer = summed.table(row_limit=0).rpartition("-  \n")[2]
        caption = " \u00b7 ".join(footer.splitlines())
        return html.table(rows, html.Totals(summed), caption, self._use_device, self._profile_memory, self._with_flops)


def _limit(rows):
    """The limit as an integer. A number that a count of rows never equals, such as 2.5 or infinity, sets no limit, which is -1."""
    return int(min(rows, sys.maxsize)) if rows is not None and float(rows).is_integer() else -1


def _itself(value):
    return value


def _reduce_event(event):
    """How a recorded event is pickled and copied: as an event made by hand."""
    return _itself, (copy_of(event),), event._added  # as state, which may refer to the event


copyreg.pickle(_C.FunctionEvent, _reduce_event)


def _backward_node(event):
    """The event itself or the innermost one around it that is a node of the backward pass; None without such a node."""
    while event is not None and event.scope != RecordScope.BACKWARD_FUNCTION.value:
        event = event.cpu_parent
    return event
