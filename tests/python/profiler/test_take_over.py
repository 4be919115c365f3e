"""take_over(): whoever asks torch.profiler for a profile gets ours, until it is undone."""

import gzip
import json
import subprocess
import sys
import textwrap
import threading
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

from mindtorch_v2 import profiler as ours  # noqa: E402
from torch.profiler import profile as imported_before  # noqa: E402

TORCHS = SimpleNamespace(profile=torch.profiler.profile)  # names of this module are replaced, too


def test_the_names_of_torchs_modules_are_ours_in_a_block():
    with ours.take_over():
        from torch.profiler import ProfilerActivity, profile, schedule

        assert profile is torch.profiler.profile is torch.profiler.profiler.profile is ours.profile
        assert (ProfilerActivity, schedule) == (ours.ProfilerActivity, ours.schedule)
        assert torch.autograd.profiler.profile.__module__ == "mindtorch_v2.autograd.profiler"
        assert torch.autograd.profiler_util.EventList is ours.EventList
        assert callable(torch.profiler.profiler._default_schedule_fn)
    assert torch.profiler.profile is TORCHS.profile and torch.profiler.profiler.profile is TORCHS.profile
    assert type(torch.profiler) is type(sys)


def test_what_a_module_has_imported_before_is_replaced_and_given_back():
    with ours.take_over():
        assert imported_before is ours.profile
    assert imported_before is TORCHS.profile


def test_what_torch_uses_itself_stays_its_own():
    from torch._inductor import utils

    with ours.take_over():
        assert utils.EventList is vars(torch.autograd.profiler_util)["EventList"]
        assert eval("torch.profiler.profile", {"__name__": "torch._inductor.utils", "torch": torch}) is TORCHS.profile
        assert torch.profiler.record_function is torch.autograd.profiler.record_function
        with eval("torch.profiler.profile", {"__name__": "torch.x", "torch": torch})() as theirs:
            torch.ones(2)
        assert type(theirs) is TORCHS.profile and len(theirs.events()) > 0


def test_undoing_twice_and_several_at_once():
    first, second = ours.take_over(), ours.take_over()
    first.undo()
    first.undo()
    assert torch.profiler.profile is ours.profile
    second.undo()
    assert torch.profiler.profile is TORCHS.profile


def test_a_name_that_a_program_replaces_is_the_programs(monkeypatch):
    with ours.take_over():
        with monkeypatch.context() as patch:
            patch.setattr(torch.profiler, "schedule", "mine")
            assert torch.profiler.schedule == "mine" and vars(torch.profiler)["schedule"].__module__ == "torch.profiler.profiler"
        assert torch.profiler.schedule is ours.schedule
        torch.profiler.schedule = "mine"
    assert torch.profiler.schedule == "mine"
    torch.profiler.schedule = torch.profiler.profiler.schedule


def test_classes_and_events_are_of_torchs_kinds(bridged_torch):
    util = torch.autograd.profiler_util
    with ours.profile(activities=["CPU"]) as prof:
        torch.ones(2)
    assert isinstance(prof.events()[0], util.FunctionEvent)
    theirs = util.EventList([event for event in prof.events() if event.cpu_parent is None])
    theirs._build_tree()
    assert [row.key for row in theirs.key_averages()] == ["aten::ones"]
    with ours.take_over():
        assert issubclass(torch.profiler.profile, torch.profiler._KinetoProfile) and isinstance(prof, torch.profiler.profile)


def test_a_recording_lies_beside_each_trace_on_request(bridged_torch, tmp_path):
    with ours.take_over(recordings=True), torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
        torch.ones(2)
        prof.stop()
        for name in ("a.json", "b.1.pt.trace.json.gz", "c.trace.json"):
            prof.export_chrome_trace(str(tmp_path / name))
    assert {path.name for path in tmp_path.glob("*.mtrec")} == {"a.mtrec", "b.1.mtrec", "c.mtrec"}
    prof.export_chrome_trace(str(tmp_path / "d.json"))
    assert not (tmp_path / "d.mtrec").exists()


def test_an_export_in_the_background_lets_the_program_go_on_and_writes_its_own_cycle(bridged_torch, tmp_path, monkeypatch):
    may_write, last_cycle = threading.Event(), ours.profile._last_cycle

    class Waiting:
        """A cycle that is not written before it may."""

        def __init__(self, prof, doing):
            self._cycle = last_cycle(prof, doing)

        def _export_chrome_trace(self, path, apart):
            may_write.wait(30)
            self._cycle._export_chrome_trace(path, apart)

    monkeypatch.setattr(ours.profile, "_last_cycle", lambda prof, doing: Waiting(prof, doing))
    with ours.take_over(background=True):
        prof = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        for name in ("first", "second"):
            with prof, torch.profiler.record_function(name):
                torch.ones(2)
            prof.export_chrome_trace(str(tmp_path / f"{name}.json.gz"))
        assert list(tmp_path.iterdir()) == []
        may_write.set()
        prof.wait_for_exports()
        for name in ("first", "second"):
            with gzip.open(tmp_path / f"{name}.json.gz", "rt") as file:
                assert name in {event["name"] for event in json.load(file)["traceEvents"]}


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_an_export_in_the_background_has_no_descriptor_that_the_program_could_close(tmp_path, suffix):
    """Not one is left, and the file is written all the same: its number is of another table."""
    program = f"""
import os, resource, sys
import mindtorch_v2.profiler as ours
from mindtorch_v2.profiler import profile, record_function
ours.profile._exports_in_background = True
with profile() as prof, record_function("work"):
    pass
prof.export_chrome_trace("first{suffix}")  # what is imported for it is there
prof.wait_for_exports()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
try:
    while True:
        taken.append(os.dup(0))
except OSError:
    pass
prof.export_chrome_trace("trace{suffix}")
prof.wait_for_exports()
print(os.path.exists("trace{suffix}"))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


PROGRAM = """
import sys, torch
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
    torch.ones(2)
prof.export_chrome_trace(sys.argv[1] + "/trace.json")
print(type(prof).__module__)
sys.exit(7)
"""


@pytest.mark.parametrize("value, files", [("1", []), ("recordings", ["trace.mtrec"]), ("background, recordings", ["trace.mtrec"])])
def test_mtprof_run_takes_over_and_leaves_the_programs_files_and_status(value, files, tmp_path, monkeypatch):
    monkeypatch.setenv("MINDTORCH_TAKE_OVER", value)
    command = [sys.executable, "-m", "mindtorch_v2.profiler", "run", "--take-over", "--", sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (7, "mindtorch_v2.profiler.profiler"), done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["trace.json", *files])


def test_it_may_be_asked_for_before_torch_is_imported():
    program = """
        import mindtorch_v2.profiler
        mindtorch_v2.profiler.take_over()
        from torch.profiler import profile
        print(profile.__module__)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "mindtorch_v2.profiler.profiler"


def test_an_unknown_value_of_the_variable_is_told_and_the_program_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MINDTORCH_TAKE_OVER", "bogus")
    command = [sys.executable, "-m", "mindtorch_v2.profiler", "run", "--take-over", "--", sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[-1]) == (7, "torch.profiler.profiler")
    assert "torch.profiler is not taken over" in done.stderr and "'bogus'" in done.stderr
