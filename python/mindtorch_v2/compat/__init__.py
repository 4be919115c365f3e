"""What only torch's programs need: take_over() and torch's older names. Not for users: mindtorch_v2.profiler has its public names."""
