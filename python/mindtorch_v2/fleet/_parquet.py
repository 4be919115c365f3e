"""The events of a job's ranks as a Parquet dataset, for Spark, DuckDB, Polars and everything else that reads one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindtorch_v2.fleet._job import analyze
from mindtorch_v2.profiler.recording import load

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from mindtorch_v2.profiler.recording import Recording

_NUMBERS = ("id", "parent_id", "duration_ns", "thread_id", "self_cpu_time_ns", "device_time_ns", "self_device_time_ns")
_TEXTS = ("name", "kind", "device_type")


def _shift_to_common_clock(rank: dict, recording: Recording) -> int | None:
    """What is added to times of the recording to get Unix times on the common clock; None if the rank has no steps."""
    common = {step["number"]: step["start_ns"] for step in rank["steps"]}
    return next((common[step.number] - step.start_ns for step in recording.steps() if step.number in common), None)


def _table(rank: dict, job: str, recording: Recording):
    import pyarrow

    events = pyarrow.table(recording)
    shift = _shift_to_common_clock(rank, recording)
    nothing = pyarrow.nulls(len(events), pyarrow.int64())
    columns: dict[str, Any] = {
        "job": pyarrow.array([job] * len(events), pyarrow.string()),
        "rank": pyarrow.array([rank["rank"]] * len(events), pyarrow.int64()),
        "step": events["step"],
        "start_ns": nothing if shift is None else pyarrow.compute.add(events["start_ns"], shift),
    }
    columns |= {name: events[name].cast(pyarrow.string()) for name in _TEXTS}
    columns |= {name: events[name] for name in _NUMBERS}
    return pyarrow.table(columns)


def write_parquet(
    paths: str | os.PathLike | Iterable[str | os.PathLike], folder: str | os.PathLike, *, job: str = "job", **options: Any
) -> list[int]:
    """Writes FOLDER/job=.../rank=.../step=.../*.parquet. Returns the ranks that were written.

    Args:
        paths: a folder with the recordings or traces of the ranks, or the files.
        folder: where the dataset is written; other jobs may be there already.
        job: the name of the job, which the dataset is partitioned by.

    Other arguments are those of analyze(), which aligns the clocks: `start_ns` is a Unix time on the clock of the reference rank. One rank
    is in memory at a time.
    """
    try:
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise ImportError("write_parquet needs the package pyarrow: pip install pyarrow") from None
    ranks = analyze(paths, **options).ranks
    for rank in ranks:
        table = _table(rank, job, load(rank["file"]))
        name = f"rank{rank['rank']}-{{i}}.parquet"
        pyarrow.parquet.write_to_dataset(
            table, str(folder), partition_cols=["job", "rank", "step"], basename_template=name, compression="zstd"
        )
    return [rank["rank"] for rank in ranks]
