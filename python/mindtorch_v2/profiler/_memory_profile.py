"""torch's own analysis of memory, of a recording of ours."""

_REQUIRED = "record_shapes", "profile_memory", "with_stack"


def memory_profile(profile):
    """torch.profiler._memory_profiler.MemoryProfile of the last cycle of `profile`."""
    missing = [f"{option}=True" for option in _REQUIRED if not getattr(profile, option)]
    if missing:
        raise ValueError(f"{', '.join(missing)} required for memory profiling.")
    try:
        from torch.profiler._memory_profiler import MemoryProfile
    except ImportError as error:
        raise RuntimeError(
            "this analysis is a part of PyTorch, which is not installed; export_memory_timeline() needs no PyTorch"
        ) from error
    return MemoryProfile(profile.profiler.kineto_results)
