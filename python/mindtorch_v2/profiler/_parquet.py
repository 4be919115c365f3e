"""Parquet files, written by pyarrow if it is installed."""

from __future__ import annotations

import os
import tempfile


def write_parquet(table, path: str) -> None:
    """Writes an object that has __arrow_c_stream__. The file appears whole or not at all.

    Raises ImportError with the command that installs pyarrow if it is missing.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"{os.path.basename(path)!r} needs pyarrow, which is not installed; install it: pip install pyarrow") from error
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix=".mindtorch-", dir=folder) as scratch:
        written = os.path.join(scratch, "table.parquet")
        pyarrow.parquet.write_table(pyarrow.table(table), written)
        os.replace(written, path)
