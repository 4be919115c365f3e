"""The commands of mtprof that are written in Python. Not for users: run mtprof, or python -m mindtorch_v2.profiler."""
