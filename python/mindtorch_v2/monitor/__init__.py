"""The flight recorder behind mindtorch_v2.profiler.monitor(). Not for users: mindtorch_v2.profiler has its public names."""
