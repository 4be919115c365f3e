"""Summarises recordings on a Dask cluster: one task for each file, then a tree of tasks that put the summaries together."""

from __future__ import annotations

import contextlib
from typing import Any

from mindtorch_v2.fleet._native import merge, summarize

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


def summarize_on(scheduler: Any, files: list[str]) -> bytes:
    """The summaries of all files, in the order of the files."""
    client, closing = _client(scheduler)
    with closing:
        parts = client.map(summarize, [[file] for file in files], retries=_RETRIES, pure=False)
        while len(parts) > 1:
            groups = [parts[first : first + _FAN_IN] for first in range(0, len(parts), _FAN_IN)]
            parts = [client.submit(merge, group, retries=_RETRIES, pure=False) for group in groups]
        return parts[0].result()
