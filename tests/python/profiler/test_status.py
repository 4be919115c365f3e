"""What the profiler says about itself: its sources, its bridges and its own cost."""

from mindtorch_v2.profiler import ProfilerActivity, profile, status


def test_status_says_what_is_recorded_and_why_the_rest_is_not():
    found = status()
    assert not found.recording and found.clock and found.sources
    for source in found.sources:
        assert source.available == (not source.reason) and source.activity in ProfilerActivity
        assert source.name in str(found)
    assert found.bridges["torch"].startswith(("active: ", "inactive: ")) and "torch: " in str(found)
    assert found.bridges["nvtx"].startswith(("active: ", "inactive: ", "waiting ")) and "nvtx: " in str(found)
    with profile():
        assert status().recording


def test_what_the_profiler_took_is_known(op):
    with profile() as prof:
        op("aten::mul")
    overhead = prof.overhead()
    assert overhead.events == 1 and overhead.window_ns > 0 and overhead.stop_ns > 0 and overhead.start_ns > 0 and overhead.bytes > 0
    assert "events=1" in repr(overhead)
