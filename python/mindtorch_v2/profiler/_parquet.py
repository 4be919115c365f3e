"""Parquet, which pyarrow writes if it is installed, among the formats of files."""

from __future__ import annotations

import os
import tempfile

from mindtorch_v2 import _C


def _write_parquet(table, path: str) -> None:
    """Writes an object that has __arrow_c_stream__. The file appears whole or not at all."""
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


_C.add_table_formats(".parquet", "pyarrow", _write_parquet)
