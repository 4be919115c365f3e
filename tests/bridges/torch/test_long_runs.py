"""Recording for a long time: what is kept stays the same, and so does memory."""

import pytest
from profiles import overrun_budget


def resident_kib():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def keep_last(torch, step, steps, every):
    """Resident memory while a profile keeps its last 20 steps, and the profile."""
    from mindtorch_v2.profiler import _ExperimentalConfig, profile, schedule

    sizes = []
    always = schedule(wait=0, warmup=0, active=steps + 10)
    config = _ExperimentalConfig(keep_last_steps=20)
    with profile(activities=["cpu"], schedule=always, record_shapes=True, profile_memory=True, experimental_config=config) as p:
        for number in range(steps):
            step()
            p.step()
            if number % every == 0:
                sizes.append(resident_kib())
    return sizes, p


@pytest.mark.filterwarnings("ignore")
def test_keeping_the_last_steps_holds_memory_constant(torch, training):
    sizes, p = keep_last(torch, training("mlp"), steps=3000, every=100)
    settled = sizes[3:]
    assert max(settled) - settled[0] < 2048  # KiB; all 3000 steps would take more than 100 MiB
    numbers = sorted(int(event.trace_name.partition("#")[2]) for event in p.events() if event.name == "ProfilerStep*")
    assert numbers[-1] == 3000
    assert 20 <= len(numbers) <= 60
    assert [loss.reason for loss in p.losses()] != []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_minutes_of_keeping_the_last_steps_hold_memory_constant(torch, training):
    sizes, _ = keep_last(torch, training("transformer"), steps=15_000, every=500)
    settled = sizes[5:]
    assert max(settled) - settled[0] < 1024  # KiB; 100 bytes per step would be more


def test_a_small_budget_with_shapes_loses_events_and_tells_how_many(torch):
    prof = overrun_budget(torch.ones(2, 2))
    lost = sum(loss.count for loss in prof.losses() if loss.reason == "budget")
    assert lost > 0 and len(prof.events()) + lost == 200_000
