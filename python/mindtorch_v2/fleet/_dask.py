"""Summarises recordings on a Dask cluster: one task for each file, then a tree of tasks that put the summaries together."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

from mindtorch_v2 import _C

_FAN_IN = 16  # summaries that one task puts together: at most 16 MB
_RETRIES = 3  # a task whose worker dies is run on another one


def _client(scheduler: Any):
    """The client, and what closes it if it was opened here."""
    try:
        from dask.distributed import Client
    except ImportError:
        raise ImportError("a scheduler needs the package distributed: pip install distributed") from None
    if isinstance(scheduler, str):
        client = Client(scheduler)
        return client, contextlib.closing(client)
    return scheduler, contextlib.nullcontext()


def _summarize(files: list[str]) -> bytes:
    """The summaries of some recordings, and what is wrong with files that cannot be read. Runs where the files lie."""
    return _C.summarize_ranks(files, threads=1)


def _merge(parts: list[bytes]) -> bytes:
    """One part with the summaries of several."""
    with tempfile.TemporaryDirectory() as folder:
        for place, summaries in enumerate(parts):
            (Path(folder) / f"part{place:06}.mtsum").write_bytes(summaries)
        return _C.summarize_ranks([folder])


def summarize_on(scheduler: Any, paths: list[str]) -> bytes:
    """The summaries of the files that `mtprof ranks PATHS` would read, in the same order."""
    files = _C.ranks_files(paths)
    client, closing = _client(scheduler)
    with closing:
        parts = client.map(_summarize, [[file] for file in files], retries=_RETRIES, pure=False)
        while len(parts) > 1:
            groups = [parts[first : first + _FAN_IN] for first in range(0, len(parts), _FAN_IN)]
            parts = [client.submit(_merge, group, retries=_RETRIES, pure=False) for group in groups]
        return parts[0].result()
