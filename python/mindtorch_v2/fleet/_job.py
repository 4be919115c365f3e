"""analyze() and what it returns."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mindtorch_v2.fleet import _native

if TYPE_CHECKING:
    from collections.abc import Iterable


class Job:
    """The answer to a job: the JSON of `mtprof ranks` as attributes (stragglers, faults, communication, steps, ranks, ...)."""

    def __init__(self, answer: dict[str, Any]):
        self.answer = answer

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["answer"][name]
        except KeyError:
            raise AttributeError(f"a job has {', '.join(sorted(self.__dict__.get('answer', ())))}, and no {name!r}") from None

    def __repr__(self) -> str:
        slow = f", others wait for rank {self.stragglers[0]['rank']}" if self.stragglers else ""
        return f"<Job of {len(self.ranks)} ranks, {len(self.steps)} steps, {len(self.faults)} faults{slow}>"


def analyze(paths: str | os.PathLike | Iterable[str | os.PathLike], *, scheduler: Any = None, threads: int = 0) -> Job:
    """Compares the ranks of a job.

    Args:
        paths: a folder with the recordings or traces of the ranks, or the files.
        scheduler: the address of a Dask scheduler, or a dask.distributed Client. Its workers read the files, so the paths must be valid
            where they run. Without it, threads of this machine read them.
        threads: files that are read at the same time on this machine; 0: as many as there are processors.
    """
    paths = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if scheduler is None:
        return Job(_native.run_ranks(*paths, "--threads", threads))
    from mindtorch_v2.fleet._dask import summarize_on

    summaries = summarize_on(scheduler, _native.recordings_in(paths))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.mtsum"
        path.write_bytes(summaries)
        return Job(_native.run_ranks(path))
