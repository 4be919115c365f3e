"""The ranks of a job, from Python: what `mtprof ranks` answers, on one machine or on a Dask cluster."""

from mindtorch_v2.fleet._job import Job, analyze
from mindtorch_v2.fleet._parquet import write_parquet

__all__ = ["Job", "analyze", "write_parquet"]
