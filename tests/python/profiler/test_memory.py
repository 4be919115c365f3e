"""profile_memory: what each event says about allocated memory."""

import itertools

import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile, schedule

# Rule: memory.ops


def test_cpu_events_carry_their_memory():
    with profile(profile_memory=True) as prof:
        kept = torch.ones((256, 256))
        kept * 2
    for event in prof.events():
        if event["kind"] == "op":
            before, after, delta = (event[f"cpu_memory_allocated_{key}"] for key in ("before", "after", "delta"))
            assert after - before == delta
    ones = next(event for event in prof.events() if event["name"].endswith("ones"))
    assert ones["cpu_memory_allocated_delta"] >= 256 * 256 * 4


def test_the_trace_carries_memory_in_args(trace_of):
    with profile(profile_memory=True) as prof:
        torch.ones((2, 2)) * 2
    mul = next(event for event in trace_of(prof)["traceEvents"] if event["name"].endswith("mul"))
    args = mul["args"]
    assert args["device_type"] == "CPU"
    assert args["cpu_memory_allocated_after"] - args["cpu_memory_allocated_before"] == args["cpu_memory_allocated_delta"]


def test_memory_of_one_op_begins_where_that_of_the_one_before_ended():
    x = torch.ones((64, 64))
    with profile(profile_memory=True) as prof:
        kept = [x * x for _ in range(5)]
    events = list(prof.events())
    assert len(events) == len(kept)
    assert [event["cpu_memory_allocated_delta"] for event in events] == [64 * 64 * 4] * 5
    for one, next_one in itertools.pairwise(events):
        assert one["cpu_memory_allocated_after"] == next_one["cpu_memory_allocated_before"]


# Rule: memory.schedule


def test_with_a_schedule_memory_exists_only_in_recording_phases():
    x = torch.ones((64, 64))
    with profile(profile_memory=True, schedule=schedule(wait=1, warmup=1, active=1)) as prof:
        for _ in range(3):
            x * x
            prof.step()
    with_memory = [event for event in prof.events() if "cpu_memory_allocated_before" in event]
    assert with_memory and {event["step"] for event in with_memory} == {2}
