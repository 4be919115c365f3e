"""Packages that profile with torch.profiler themselves cannot tell our profiler from torch's when it is taken over."""

import importlib.util

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.programs]


@pytest.mark.parametrize("way", ["take_over", "mtprof_run"])
@pytest.mark.parametrize("name", ["lightning", "accelerate"])
def test_a_package_gets_what_torch_gives_it(name, way, run_clients):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed (./dev test --programs installs it)")
    theirs, ours = (run_clients(each, f"packages:{name}")[name] for each in ("torch", way))
    assert theirs["error"] is None and theirs["files"]
    assert ours == theirs
