"""The tables of a recording in DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mindtorch_v2.profiler.recording import Recording

# Recordings come from elsewhere, and so do questions about them: SQL reaches the tables, and neither files nor variables of this program.
_NO_FILES = ("SET enable_external_access = false",)
_NO_VARIABLES = ("SET python_enable_replacements = false", "SET lock_configuration = true")


class Tables:
    """A DuckDB connection with the tables `events`, `steps`, `counters`, `samples` and `efficiency`.

    Raises ImportError if DuckDB is not installed.
    """

    def __init__(self, recording: Recording, *, allow_files: bool = False):
        try:
            import duckdb
        except ImportError as error:
            raise ImportError("DuckDB is not installed; install it: pip install duckdb") from error
        self.Error = duckdb.Error
        self.database = duckdb.connect()
        for name, table in {
            "events": recording,
            "steps": recording.steps(),
            "counters": recording.counters(),
            "samples": recording.samples(),
            "efficiency": recording._efficiency_table(),
        }.items():
            self.database.register("arrow", table)
            self.database.execute(f"CREATE TABLE {name} AS SELECT * FROM arrow")
            self.database.unregister("arrow")
        for setting in (*(() if allow_files else _NO_FILES), *_NO_VARIABLES):
            self.database.execute(setting)
