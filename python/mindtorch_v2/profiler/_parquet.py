"""Parquet files, written by pyarrow if it is installed."""

from __future__ import annotations

import os
import tempfile


def require_pyarrow(path: str):
    """pyarrow. Raises ImportError with the command that installs it if it is missing; `path` is what it is needed for."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"{os.path.basename(path)!r} needs pyarrow, which is not installed; install it: pip install pyarrow") from error
    return pyarrow


def write_parquet(table, path: str) -> None:
    """Writes an object that has __arrow_c_stream__. The file appears whole or not at all. Raises as require_pyarrow() does."""
    pyarrow = require_pyarrow(path)
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix=".mindtorch-", dir=folder) as scratch:
        written = os.path.join(scratch, "table.parquet")
        pyarrow.parquet.write_table(pyarrow.table(table), written)
        os.replace(written, path)
