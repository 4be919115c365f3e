"""analyze(): the ranks of a job, on one machine or on a Dask cluster."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindtorch_v2.profiler.recording import Job, ranks

if TYPE_CHECKING:
    from collections.abc import Iterable


def analyze(paths: str | os.PathLike | Iterable[str | os.PathLike], *, scheduler: Any = None, threads: int = 0) -> Job:
    """Compares the ranks of a job.

    Args:
        paths: a folder with the recordings or traces of the ranks, or the files.
        scheduler: the address of a Dask scheduler, or a dask.distributed Client. Its workers read the files, so the paths must be valid
            where they run. Without it, threads of this machine read them.
        threads: files that are read at the same time on this machine; 0: as many as there are processors.
    """
    if scheduler is None:
        return ranks(paths, threads=threads)
    from mindtorch_v2.fleet._dask import summarize_on

    files = [os.fsdecode(path) for path in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.mtsum"
        path.write_bytes(summarize_on(scheduler, files))
        return ranks(path)
