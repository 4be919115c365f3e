"""toggle_collection_dynamic: the CPU switched off and on again while a profile runs."""

import mindtorch_v2 as torch
from mindtorch_v2.profiler import ProfilerActivity, profile, record_function
from profiles import names

# Rule: session.toggle


def test_collection_of_the_cpu_can_be_toggled():
    x = torch.ones((2, 2))
    with profile() as prof:
        x + x
        prof.toggle_collection_dynamic(False, [ProfilerActivity.CPU])
        x * x
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
        x + x
    recorded = [name.split("::")[-1] for name in names(prof)]
    assert recorded.count("add") == 2 and "mul" not in recorded


def test_scopes_too_are_recorded_only_while_the_cpu_is_on():
    with profile() as prof:
        for number, enable in enumerate([False, True, False, True]):
            prof.toggle_collection_dynamic(enable, [ProfilerActivity.CPU])
            with record_function(f"scope {number}"):
                pass
    assert names(prof, "scope") == ["scope 1", "scope 3"]
