"""Programs of other projects cannot tell our profiler from torch's: same errors, files, counts of ops and annotations, tables, results."""

import pytest

pytestmark = pytest.mark.torch
pytest.importorskip("torch")

from clients import CLIENTS  # noqa: E402

WAYS = ("changed_import", "take_over", "mtprof_run")


def test_there_are_thirty_projects():
    assert len({function.source.split("/")[0].split(":")[0] for function in CLIENTS.values()}) >= 30


@pytest.mark.parametrize("way", WAYS)
def test_each_way_uses_our_profiler(way, run_clients):
    assert run_clients(way)["who"] == "mindtorch_v2.profiler.profiler"
    assert run_clients("torch")["who"] == "torch.profiler.profiler"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_gets_what_torch_gives_it(name, way, run_clients):
    theirs, ours = run_clients("torch")[name], run_clients(way)[name]
    assert theirs["error"] is None, "the client itself is wrong"
    assert ours == theirs
