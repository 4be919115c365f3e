"""A step of a program on a GPU under ours and under torch.profiler, and what of both traces must be equal."""

import collections
import json


def events_of(profile, path):
    profile.export_chrome_trace(str(path))
    return json.loads(path.read_text())["traceEvents"]


def device_work(events):
    """How often each kernel ran with its launch parameters, and each copy and memset with its bytes."""
    counts = collections.Counter()
    for event in events:
        args = event.get("args", {})
        if event.get("cat") == "kernel":
            # Torch has 0 for kernels with more shared memory than a program gets without asking.
            occupancy = args["est. achieved occupancy %"] if args["shared memory"] <= 48 << 10 else None
            counts[event["name"], tuple(args["grid"]), tuple(args["block"]), occupancy] += 1
        elif event.get("cat") in ("gpu_memcpy", "gpu_memset"):
            counts[event["name"], args.get("bytes")] += 1
    return counts


def launching_ops(events):
    """How often each op launched each kernel."""
    ops = {event["args"]["External id"]: event["name"] for event in events if event.get("cat") == "cpu_op"}
    return collections.Counter(
        (ops.get(event["args"].get("External id")), event["name"]) for event in events if event.get("cat") == "kernel"
    )


def profile_twice(torch, step, folder, **options):
    """The events of (ours, torch's)."""
    from mindtorch_v2 import profiler

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    with profiler.profile(activities=["cpu", "cuda"], **options) as ours:
        step()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, **options) as theirs:
        step()
    return events_of(ours, folder / "ours.json"), events_of(theirs, folder / "theirs.json")
