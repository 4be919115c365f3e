"""What was lost is counted and reported."""

import json

from mindtorch_v2.profiler import _ExperimentalConfig, profile
from profiles import overrun_budget

# Rule: losses.counted


def test_losses_are_reported(op):
    with profile(experimental_config=_ExperimentalConfig(budget_bytes=1 << 20)) as prof:
        for _ in range(100_000):
            op("aten::mul")
    lost = prof.losses()
    assert lost and lost[0].reason == "budget" and lost[0].count > 0
    assert len(prof.events()) + sum(loss.count for loss in lost) == 100_000
    assert f"{lost[0].count} events (budget" in prof.key_averages().table().replace(",", "")


def test_losses_are_in_the_trace_too(op, trace_of):
    with profile(experimental_config=_ExperimentalConfig(budget_bytes=1 << 20)) as prof:
        for _ in range(100_000):
            op("aten::mul")
    (lost,) = prof.losses()
    assert str(lost.count) in json.dumps({key: value for key, value in trace_of(prof).items() if key != "traceEvents"})
    assert prof.key_averages().to_dict()["losses"]


def test_a_small_budget_with_shapes_loses_events_and_tells_how_many():
    import mindtorch_v2 as torch

    prof = overrun_budget(torch.ones(2, 2))
    lost = sum(loss.count for loss in prof.losses() if loss.reason == "budget")
    assert lost > 0 and len(prof.events()) + lost == 200_000
