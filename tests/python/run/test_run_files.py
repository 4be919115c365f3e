"""mtprof run and collect: recordings are never mixed, replaced or deleted, and a target that cannot be written is told before."""

import json
import os
import signal
import subprocess
import sys

import mindtorch_v2
import pytest
from mindtorch_v2.cli.run import folder
from run_programs import EMBEDDED, LIMIT, has_ended, until

WAITING = EMBEDDED + "import os, time\nopen(f'ready-{os.getpid()}', 'w').close()\nwhile not os.path.exists('go'): time.sleep(0.01)\n"


def recordings(folder):
    return sorted(path.name for path in folder.glob("*.mtrec"))


def ready(folder, count=1):
    return until(lambda: len(found := list(folder.glob("ready-*"))) >= count and [int(path.name.partition("-")[2]) for path in found])


def test_two_runs_at_once_have_a_recording_each(runs, tmp_path, info):
    (tmp_path / "train.py").write_text(WAITING)
    (tmp_path / "short.py").write_text(EMBEDDED)
    named = [runs.start(runs.mtprof, "run", "-o", "x.mtrec", "train.py") for _ in range(2)]
    unnamed = [runs.start(runs.mtprof, "run", "train.py") for _ in range(2)]
    ready(tmp_path, 4)
    (tmp_path / "go").touch()
    assert [each.wait(LIMIT) for each in named + unnamed] == [0, 0, 0, 0]
    assert recordings(tmp_path) == ["train.2.mtrec", "train.mtrec", "x.2.mtrec", "x.mtrec"]
    assert all(info(tmp_path / name)["metadata"]["mtprof_run"]["steps"] == 6 for name in recordings(tmp_path))
    assert not list(tmp_path.glob(".*"))


def test_folders_of_the_user_are_left_alone(run, tmp_path):
    for name in ("x.mtrec.parts", ".x.mtrec.parts"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").write_text("precious")
    run(EMBEDDED, "-o", "x.mtrec")
    assert recordings(tmp_path) == ["x.mtrec"]
    assert [(tmp_path / name / "mine").read_text() for name in ("x.mtrec.parts", ".x.mtrec.parts")] == ["precious"] * 2


def test_a_run_does_not_mix_with_one_that_was_killed_before(runs, run, info, tmp_path):
    (tmp_path / "train.py").write_text(WAITING)
    launcher = runs.start(runs.mtprof, "run", "-o", "x.mtrec", "train.py")
    pid = ready(tmp_path)[0]
    launcher.kill()
    os.kill(pid, signal.SIGKILL)
    launcher.wait()
    until(lambda: has_ended(pid))
    done = run(EMBEDDED, "-o", "x.mtrec")
    assert "earlier runs have left recordings that were not collected" in done.stderr
    assert recordings(tmp_path) == ["x.mtrec"] and info(tmp_path / "x.mtrec")["metadata"]["mtprof_run"]["steps"] == 6
    runs.collect()
    assert recordings(tmp_path) == ["x.2.mtrec", "x.mtrec"]
    assert info(tmp_path / "x.mtrec")["metadata"]["mtprof_run"]["steps"] == 6
    assert "nothing to collect" in runs.collect()


def test_processes_of_one_rank_have_a_recording_each_in_the_order_of_their_start(run, info, tmp_path):
    text = """
import os, subprocess, sys
import mindtorch_v2
from mindtorch_v2.profiler import record_function
if len(sys.argv) == 1:
    for count in (10, 20, 30):
        subprocess.run([sys.executable, "train.py", str(count)], env={**os.environ, "RANK": "0"})
else:
    for _ in range(int(sys.argv[1])):
        with record_function("work"):
            pass
"""
    done = run(text, "-o", "x.mtrec")
    names = ["x.rank0.mtrec", "x.rank0.2.mtrec", "x.rank0.3.mtrec"]
    assert recordings(tmp_path) == sorted(names)
    assert [info(tmp_path / name)["kinds"]["scope"] for name in names] == [10, 20, 30]
    assert [line.split()[2] for line in done.stderr.splitlines() if " file " in line] == names


@pytest.mark.parametrize("rank", ["", "abc", "²"])
def test_a_rank_that_is_no_number_is_none(run, info, tmp_path, rank):
    done = run(EMBEDDED, environment={"RANK": rank})
    assert info(tmp_path / "train.mtrec")["metadata"]["mtprof_run"]["steps"] == 6, done.stderr


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("folder.mtrec", "is a folder; -o names the file to write"),
        ("/proc/x.mtrec", "cannot be written"),
        ("n" * 240 + ".mtrec", "is too long"),
        ("no/such/x.mtrec", "make it first: mkdir -p no/such"),
        ("train.py/x.mtrec", "there is no folder"),
    ],
)
def test_a_target_that_cannot_be_written_is_told_before_the_program_starts(run, tmp_path, output, message):
    (tmp_path / "folder.mtrec").mkdir()
    done = run("print('ran')", "-o", output, status=2)
    assert message in done.stderr and done.stdout == ""
    assert sorted(os.listdir(tmp_path)) == ["folder.mtrec", "train.py"]


def test_a_program_that_removes_the_folder_of_its_output_keeps_its_status_and_its_recording(run, info, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "spare").mkdir()
    text = EMBEDDED + "import shutil\nshutil.rmtree('out')\nsys.exit(7)"
    done = run(text, "-o", "out/x.mtrec", status=7, environment={"TMPDIR": str(tmp_path / "spare")})
    kept = list((tmp_path / "spare").glob("*/x.mtrec"))
    assert len(kept) == 1 and str(kept[0]) in done.stderr
    assert info(kept[0])["kinds"]["step"] == 6  # the last one goes on to the end
    assert not (tmp_path / "out").exists() and os.listdir(kept[0].parent) == ["x.mtrec"]


def test_a_program_that_removes_the_files_of_the_run_is_recorded(run, info, tmp_path):
    """As programs do that clean up what is old, and leave folders alone."""
    text = EMBEDDED + "import glob, os\n[os.unlink(path) for path in glob.glob('.x.mtrec.parts/*')]\nsys.exit(7)"
    run(text, "-o", "x.mtrec", status=7)
    assert info(tmp_path / "x.mtrec")["kinds"]["step"] == 6  # the last one goes on to the end
    assert not list(tmp_path.glob(".*.parts"))


@pytest.mark.parametrize("leave, lost", [("os._exit(7)", "1 (unfinished), nothing else that is known\n"), ("sys.exit(7)", "nothing\n")])
def test_what_is_lost_is_not_more_than_is_known(run, leave, lost):
    done = run(EMBEDDED + f"import os\n{leave}", status=7)
    assert f"mtprof: lost      {lost}" in done.stderr


def test_a_process_that_can_tell_nothing_goes_on(tmp_path):
    """Neither the folder of the run nor the modules that write a message are there."""
    program = """
import sys
from mindtorch_v2.cli.run.site import _mindtorch_run_hook as hook
for name in ("json", "time"):
    sys.modules[name] = None  # importing it raises
hook.tell("something")
print("went on")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"MINDTORCH_RUN": "{"}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("went on\n", "")


def test_a_program_that_makes_the_folder_of_its_output_again_is_recorded_there(run, info, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "spare").mkdir()
    text = EMBEDDED + "import os, shutil\nshutil.rmtree('out')\nos.mkdir('out')\nsys.exit(7)"
    run(text, "-o", "out/x.mtrec", status=7, environment={"TMPDIR": str(tmp_path / "spare")})
    assert info(tmp_path / "out/x.mtrec")["kinds"]["step"] == 6  # the last one goes on to the end
    assert os.listdir(tmp_path / "out") == ["x.mtrec"] and os.listdir(tmp_path / "spare") == []


def test_an_output_that_appears_meanwhile_is_not_replaced(run, info, tmp_path):
    done = run(EMBEDDED + "open('x.mtrec', 'w').write('mine')", "-o", "x.mtrec")
    assert (tmp_path / "x.mtrec").read_text() == "mine" and "written by another program meanwhile" in done.stderr
    assert info(tmp_path / "x.2.mtrec")["kinds"]["step"] == 6  # the last one goes on to the end


def test_a_full_disk_at_the_end_keeps_the_status_and_the_recording(run, runs, tmp_path):
    done = run(EMBEDDED + "import os\nos.mkdir('x.mtrec')\nos.mkdir('x.mtrec/mine')\nsys.exit(7)", "-o", "x.mtrec", status=7)
    assert recordings(tmp_path) == ["x.2.mtrec", "x.mtrec"], done.stderr


def test_mtprof_collect_leaves_a_run_alone_that_goes_on(runs, tmp_path):
    (tmp_path / "train.py").write_text(WAITING)
    launcher = runs.start(runs.mtprof, "run", "-o", "x.mtrec", "train.py")
    ready(tmp_path)
    assert "train.py goes on: its mtprof is process" in runs.collect()
    done = subprocess.run([runs.mtprof, "report", "x.mtrec"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "`mtprof collect x.mtrec` writes it" in done.stderr
    assert recordings(tmp_path) == []
    (tmp_path / "go").touch()
    assert launcher.wait(LIMIT) == 0 and recordings(tmp_path) == ["x.mtrec"]


def test_mtprof_collect_leaves_runs_of_other_machines_alone_unless_it_is_forced(runs, info, tmp_path):
    (tmp_path / "train.py").write_text(WAITING)
    launcher = runs.start(runs.mtprof, "run", "-o", "x.mtrec", "train.py")
    pid = ready(tmp_path)[0]
    launcher.kill()
    (tmp_path / "go").touch()
    until(lambda: has_ended(pid))
    for path in [*tmp_path.glob(".*.parts/run.json"), *tmp_path.glob(".*.parts/*.note")]:
        values = json.loads(path.read_text())
        values.get("launcher", values.get("process")).update(machine="node7 abc", boot="other", namespace="pid:[1]")
        path.write_text(json.dumps(values))
    assert "may go on, on node7: collect it there, or with --force" in runs.collect()
    assert recordings(tmp_path) == []
    runs.collect("--force")
    assert info(tmp_path / "x.mtrec")["metadata"]["mtprof_run"]["steps"] == 6


def test_mtprof_collect_takes_an_output_or_the_folder_of_a_run(runs, info, tmp_path):
    (tmp_path / "train.py").write_text(WAITING)
    for place in ("x.mtrec", ".x.mtrec.parts"):
        launcher = runs.start(runs.mtprof, "run", "-o", "x.mtrec", "train.py")
        pid = ready(tmp_path)[0]
        launcher.kill()
        launcher.wait()
        (tmp_path / "go").touch()
        until(lambda pid=pid: has_ended(pid))
        done = subprocess.run([runs.mtprof, "collect", place], cwd=tmp_path, env=runs.environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "x.mtrec\n"), done.stderr
        for path in [tmp_path / "go", tmp_path / "x.mtrec", *tmp_path.glob("ready-*")]:
            path.unlink()
    done = subprocess.run([runs.mtprof, "collect", "no/such"], cwd=tmp_path, env=runs.environment, capture_output=True, text=True)
    assert done.returncode == 2 and "there is no folder 'no'" in done.stderr


def test_a_process_is_known_by_its_start_and_not_by_its_number_alone():
    me = folder.Process.current()
    assert me.is_alive() is True
    assert folder.Process(me.machine, me.boot, me.namespace, me.pid, me.start + 1).is_alive() is False
    assert folder.Process(me.machine, "before", me.namespace, me.pid, me.start).is_alive() is False  # the machine was started again
    assert folder.Process("another", "b", me.namespace, me.pid, me.start).is_alive() is None
    assert folder.Process(me.machine, me.boot, "of a container", me.pid, me.start).is_alive() is None


# What an editable install leaves: a finder on sys.meta_path, and no folder on sys.path.
EDITABLE = """
import importlib.util, os, sys

class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == "mindtorch_v2":
            return importlib.util.spec_from_file_location(name, {init!r}, submodule_search_locations=[os.path.dirname({init!r})])

sys.path[:] = [folder for folder in sys.path if not os.path.exists(os.path.join(folder, "mindtorch_v2"))]
sys.meta_path.append(Finder)
"""


def test_a_library_that_another_finder_finds_is_recorded(run, info, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(EDITABLE.format(init=mindtorch_v2.__file__))
    done = run(EMBEDDED, "-o", "a.mtrec", "--", "env", f"PYTHONPATH={tmp_path / 'site'}", sys.executable, "train.py")
    assert "nothing was recorded" in done.stderr  # without the folder of mtprof
    done = run(EMBEDDED, "-o", "b.mtrec", environment={"PYTHONPATH": f"{tmp_path / 'site'}:{os.environ['PYTHONPATH']}"})
    assert info(tmp_path / "b.mtrec")["metadata"]["mtprof_run"]["steps"] == 6, done.stderr


def test_a_subprocess_that_cannot_be_recorded_has_the_output_that_it_has_alone(run, tmp_path):
    (tmp_path / "other" / "mindtorch_v2").mkdir(parents=True)
    (tmp_path / "other" / "mindtorch_v2" / "__init__.py").write_text("")  # a Python without the profiler, as far as it can see
    text = """
import os, subprocess, sys
child = "import sys; sys.path.insert(0, 'other'); import mindtorch_v2"
done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True)
print(repr(done.stderr))
"""
    done = run(text)
    assert done.stdout == "''\n"
    assert "cannot import the profiler: No module named 'mindtorch_v2.cli'" in done.stderr


def test_a_process_that_subprocess_forks_records_nothing_before_it_is_replaced(run, info, tmp_path):
    text = EMBEDDED + "import subprocess\nsubprocess.run(['true'], preexec_fn=lambda: None)"
    done = run(text)
    assert recordings(tmp_path) == ["train.mtrec"] and "regular end" not in done.stderr


def test_a_folder_and_standard_input_can_be_run(run, runs, tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__main__.py").write_text(EMBEDDED)
    run("", "-o", "a.mtrec", "--", sys.executable, "app")
    for words in (["app"], ["-"]):
        done = subprocess.run(
            [runs.mtprof, "run", *words], cwd=tmp_path, env=runs.environment, input=EMBEDDED, capture_output=True, text=True, check=True
        )
        assert done.stdout == "trained []\n"
    assert recordings(tmp_path) == ["a.mtrec", "app.mtrec", "stdin.mtrec"]
    (tmp_path / "empty").mkdir()
    done = subprocess.run([runs.mtprof, "run", "empty"], cwd=tmp_path, env=runs.environment, capture_output=True, text=True)
    assert done.returncode == 2 and "has no __main__.py" in done.stderr


def test_an_interpreter_that_ignores_the_environment_is_told_to_do_so(run):
    done = run(EMBEDDED, "-o", "a.mtrec", "--", sys.executable, "-I", "-c", "print(1)")
    assert "-I ignores the environment" in done.stderr


def test_a_program_whose_events_were_lost_is_told_so():
    from mindtorch_v2.cli.run.summary import _steps_line

    lost = [{"reason": "spill_failed", "count": 12}]
    empty = {"events": 0, "duration_ns": 0, "steps": [], "kinds": {}, "damage": None, "losses": []}
    assert _steps_line({**empty, "losses": lost}) == "no events are left, they were lost: 12 (spill_failed)"
    assert _steps_line({**empty, "damage": "it ends in the middle"}) == "no events are left, they were lost: it ends in the middle"
    assert _steps_line(empty) == "no events: nothing that can be recorded ran meanwhile"


@pytest.mark.torch
def test_both_attempts_of_a_rank_that_torchrun_starts_again_are_kept(run, info, tmp_path, bridged_torch):
    text = """
import os, sys
import torch
model = torch.nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
is_first = not os.path.exists("failed")
for _ in range(9 if is_first else 4):
    model(torch.randn(2, 8)).sum().backward()
    optimizer.step()
if is_first:
    open("failed", "w").close()
    sys.exit(1)
"""
    job = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "1", "--max-restarts", "1", "train.py"]
    done = run(text, "-o", "job.mtrec", "--", *job)
    steps = [info(tmp_path / name)["metadata"]["mtprof_run"]["steps"] for name in ("job.rank0.mtrec", "job.rank0.2.mtrec")]
    assert steps == [9, 4] and "job.rank0.2.mtrec" in done.stderr


@pytest.mark.torch
def test_workers_of_a_data_loader_have_no_recording_and_a_pool_has(run, tmp_path, bridged_torch):
    text = """
import multiprocessing, os
import torch
assert len(list(torch.utils.data.DataLoader(torch.arange(8), num_workers=2, multiprocessing_context="fork"))) == 8
with multiprocessing.get_context("fork").Pool(1) as pool:
    pool.map(torch.ones, [3])
    pool.close()
    pool.join()
print(sorted(name.split("-")[0] for name in os.listdir(".train.mtrec.parts") if name.endswith(".note")).__len__())
"""
    done = run(text)
    assert done.stdout == "2\n"  # the program, and the worker of the pool
    assert len(recordings(tmp_path)) == 2, done.stderr
