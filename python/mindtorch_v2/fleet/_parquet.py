"""The events of a job's ranks as a Parquet dataset, for Spark, DuckDB, Polars and everything else that reads one."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindtorch_v2._mtprof import find_program
from mindtorch_v2.fleet._job import analyze

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

_NUMBERS = ("id", "parent_id", "duration_ns", "thread_id", "self_cpu_time_ns", "device_time_ns", "self_device_time_ns")
_TEXTS = ("name", "kind", "device_type")


def _events_of(file: str, folder: str) -> list[dict]:
    path = Path(folder) / "rank.events.json"
    done = subprocess.run([find_program(), "export", file, "-o", path], capture_output=True, text=True)
    if not path.exists():
        raise RuntimeError(done.stderr.strip())
    events = json.loads(path.read_text())["events"]
    path.unlink()
    return events


def _shift_to_common_clock(rank: dict, events: list[dict]) -> int | None:
    """What is added to times of the recording to get Unix times on the common clock; None if the rank has no steps."""
    starts = {f"ProfilerStep#{step['number']}": step["start_ns"] for step in rank["steps"]}
    for event in events:
        if event["name"] in starts:
            return starts[event["name"]] - event["start_ns"]
    return None


def _table(rank: dict, job: str, events: list[dict]):
    import pyarrow

    shift = _shift_to_common_clock(rank, events)
    columns: dict[str, Any] = {
        "job": pyarrow.array([job] * len(events), pyarrow.string()),
        "rank": pyarrow.array([rank["rank"]] * len(events), pyarrow.int64()),
        "step": pyarrow.array([event["step"] for event in events], pyarrow.int64()),
        "start_ns": pyarrow.array([None if shift is None else event["start_ns"] + shift for event in events], pyarrow.int64()),
    }
    columns |= {name: pyarrow.array([event.get(name) for event in events], pyarrow.string()) for name in _TEXTS}
    columns |= {name: pyarrow.array([event.get(name) for event in events], pyarrow.int64()) for name in _NUMBERS}
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
        import pyarrow.parquet
    except ImportError:
        raise ImportError("write_parquet needs the package pyarrow: pip install pyarrow") from None
    ranks = analyze(paths, **options).ranks
    with tempfile.TemporaryDirectory() as temporary:
        for rank in ranks:
            table = _table(rank, job, _events_of(rank["file"], temporary))
            name = f"rank{rank['rank']}-{{i}}.parquet"
            pyarrow.parquet.write_to_dataset(
                table, str(folder), partition_cols=["job", "rank", "step"], basename_template=name, compression="zstd"
            )
    return [rank["rank"] for rank in ranks]
