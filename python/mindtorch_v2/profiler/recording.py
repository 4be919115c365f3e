"""Recording: what was recorded, by a profile or in a file, and every question to it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mindtorch_v2 import _C
from mindtorch_v2.events.event_list import EventList
from mindtorch_v2.profiler._overview import overview_html
from mindtorch_v2.profiler._tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb
    import pandas

__all__ = ["Answer", "Check", "Diff", "Efficiency", "Job", "Recording", "load", "ranks"]


class Answer(dict):
    """An answer with names: `answer.rows` is `answer["rows"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this answer has {', '.join(self)}, and no {name!r}") from None


class _Told(Answer):
    """An answer that is printed as a text for people."""

    def __init__(self, values: dict[str, Any], text: str):
        super().__init__(values)
        self._text = text

    @classmethod
    def _of(cls, answer: tuple[str, str]):
        values, text = answer
        return cls(_parsed(values), text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<{type(self).__name__}\n{self._text.rstrip()}>"


class Diff(_Told):
    """What changed between two runs: `step_time`, `device_time` and `rows`, as `mtprof diff --json` has them. str() gives its text."""


class Check(_Told):
    """Whether a run exceeds limits: `limits` with the verdicts, and how many are `exceeded`. str() gives the text of `mtprof check`."""

    @property
    def ok(self) -> bool:
        return self.exceeded == 0


class Efficiency(_Told):
    """How far work was from the limits of its device, as `mtprof efficiency --json` has it. str() gives the table of ops."""


class Job(Answer):
    """The answer to a job, as `mtprof ranks --json` has it: `stragglers`, `faults`, `communication`, `steps`, `ranks`, ..."""

    def __repr__(self) -> str:
        slow = f", others wait for rank {self.stragglers[0].rank}" if self.stragglers else ""
        return f"<Job of {len(self.ranks)} ranks, {len(self.steps)} steps, {len(self.faults)} faults{slow}>"


def _parsed(text: str) -> Any:
    return json.loads(text, object_hook=Answer)


class Recording(_C.Recording):
    """What was recorded. load() reads one from a file, profile.recording() hands one over.

        recording = load("train.mtrec")
        print(recording.key_averages().table(sort_by="self_cpu_time_total"))

    A recording never changes, whatever its profile does later, and any thread may use it.
    """

    _event_list: EventList | None = None
    _tables: Tables | None = None

    # --- Questions ---

    def events(self) -> EventList:
        """The events, as an EventList of FunctionEvent objects that are made when they are looked at. Always the same list."""
        if self._event_list is None:
            self._event_list = EventList._of_events(self._events())
        return self._event_list

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """Events of one name added up, as an EventList of FunctionEventAvg rows. Python calls are never among them."""
        return self.events().key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def counters(self) -> _C.Counters:
        """Memory and queued device work over time, as a table for Arrow."""
        return _C.counters(self._events())

    def overview(self) -> Answer:
        """Where a step goes: `steps` (how many), `step_ns` (their median), `verdict`, `causes` (of time, for each lane), `findings`."""
        return self._overview

    def findings(self) -> list[Answer]:
        """What costs time without need, largest first: `id`, `title`, `cost_ns` per step, `share`, `evidence`, `remedy`, `ops`, `lines`."""
        return self._overview.findings

    def info(self) -> Answer:
        """What `mtprof info --json` says: the file, its `damage`, `kinds` of events, `tracks`, `steps`, `devices`, `losses`, `metadata`."""
        return _parsed(self._info())

    def diff(
        self, other: Recording | str | os.PathLike, *, by_shape: bool = False, by_module: bool = False, confidence: float = 0.99
    ) -> Diff:
        """What changed from this run to `other`, a later run of the same program, told apart from noise."""
        return Diff._of(self._diff(_recording(other), by_shape, by_module, confidence))

    def check(self, baseline: Recording | str | os.PathLike, limits: Mapping[str, str] | Iterable[str]) -> Check:
        """Whether this run exceeds `baseline` by more than the limits, such as {"step_time": "+3%", "op:aten::mm": "+10%"}."""
        texts = [f"{metric}={limit}" for metric, limit in limits.items()] if isinstance(limits, Mapping) else list(limits)
        return Check._of(self._check(_recording(baseline), texts))

    def efficiency(self, peaks: Mapping[str, float] | str | os.PathLike | None = None) -> Efficiency:
        """How far the work was from what its device can do: `ops`, `kernels`, `modules`, `steps`, `devices`, `mfu`, `hfu`, ...

        `peaks` names a file, as `mtprof peaks -o` writes it, or gives peaks of every device in TFLOP/s, and TB/s of memory:
        {"bfloat16": 989.4, "memory": 4.8}. Those of known devices are in a table.
        """
        changes = [f"{name}={float(value)}" for name, value in peaks.items()] if isinstance(peaks, Mapping) else []
        files = [] if peaks is None or isinstance(peaks, Mapping) else [os.fsdecode(peaks)]
        return Efficiency._of(self._efficiency(files, changes))

    def what_if(self, *, scale: Mapping[str, float] | None = None, remove: Iterable[str] = (), overlap: Iterable[str] = ()) -> Answer:
        """How long a step would take if something about it changed: `step_ns` as recorded, `replayed_ns`, `predicted_ns`, `steps`.

        Selectors are those of `mtprof what-if`, as in `what_if(scale={"op:aten::mm": 0.5}, remove=["loading"], overlap=["copies"])`.
        """
        return _parsed(self._what_if(list((scale or {}).items()), list(remove), list(overlap)))

    def query(self, sql: str) -> duckdb.DuckDBPyRelation | None:
        """The answer of DuckDB to SQL about the tables `events`, `steps`, `counters`, `samples` and `efficiency`.

        Files cannot be reached.
        """
        if self._tables is None:
            self._tables = Tables(self)
        return self._tables.database.sql(sql)

    def to_pandas(self) -> pandas.DataFrame:
        """The events as a pandas.DataFrame with one row per event."""
        return self.events().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The events as a table for pyarrow, polars, DuckDB and others that know Arrow's C interface."""
        return _C.arrow_stream(self._events())

    @cached_property
    def _overview(self) -> Answer:
        return _parsed(self._findings())

    # --- Files ---

    def export(self, path: str | os.PathLike, *, fsync: bool = False) -> None:
        """Writes the format that the suffix of `path` names (docs/formats.md), whole or not at all.

        With `fsync` the file survives a loss of power once this returns.
        """
        path = os.fsdecode(path)
        self._export(path)
        if fsync:
            _wait_for_disk(path)

    def report(self, path: str | os.PathLike, *, baseline: Recording | str | os.PathLike | None = None) -> None:
        """Writes one page for a browser: steps, findings, tables, flame graph, memory, timeline; and what changed since `baseline`."""
        self._report(os.fsdecode(path), None if baseline is None else _recording(baseline))

    def export_chrome_trace(self, path: str | os.PathLike, use_python_export: bool = False) -> None:
        """Writes Chrome's JSON whatever the name; ".gz" is compressed, ".pftrace" is Perfetto's format.

        `use_python_export` is accepted, because handlers of torch's profiles give it, and changes nothing.
        """
        self._export_chrome_trace(os.fsdecode(path))

    def export_stacks(self, path: str | os.PathLike, metric: str = "self_cpu_time_total") -> None:
        """Writes "outermost;...;innermost <microseconds>" lines, the input of flame graph tools."""
        self._export_stacks(os.fsdecode(path), metric)

    def export_memory_timeline(self, path: str | os.PathLike, device: str | None = None) -> None:
        """Writes how much memory each category took at each moment, as profile.export_memory_timeline() does."""
        self._export_memory_timeline(os.fsdecode(path), device)

    # --- What is shown ---

    def __repr__(self) -> str:
        name = f" {os.path.basename(self.name)!r}" if self.name else ""
        return f"<Recording{name}: {self.event_count} events>"

    def _repr_html_(self) -> str:
        """The overview for a notebook."""
        return overview_html(self)


def _recording(source: Recording | str | os.PathLike) -> _C.Recording:
    return source if isinstance(source, _C.Recording) else load(source)


def _wait_for_disk(path: str) -> None:
    for each in (path, os.path.dirname(os.path.abspath(path))):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def load(path: str | os.PathLike, *, max_memory: int = 0) -> Recording:
    """Reads a recording (.mtrec) or a Chrome trace, of torch.profiler or of this library, plain or .gz.

    `max_memory` is the most memory that reading may take, in bytes; by default in proportion to the file. A damaged file gives what comes
    before the damage, which `damage` describes.
    """
    return Recording(os.fsdecode(path), max_memory)


def ranks(paths: str | os.PathLike | Iterable[str | os.PathLike], *, threads: int = 0) -> Job:
    """Compares the ranks of a job: a folder with a recording or trace of each, or the files, or a file of summaries (.mtsum).

    `threads` files are read at the same time; 0: as many as there are processors. fleet.analyze() does the same on a cluster.
    """
    paths = [paths] if isinstance(paths, str | os.PathLike) else paths
    return Job(_parsed(_C.ranks_json([os.fsdecode(path) for path in paths], threads=threads)))
