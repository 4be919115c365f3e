"""mtprof run: an unchanged program is recorded, and nothing about it changes."""

import os
import signal
import sys

import pytest
from run_programs import EMBEDDED

TORCH = EMBEDDED.replace("import mindtorch_v2 as torch\nfrom mindtorch_v2 import nn, optim", "import torch\nfrom torch import nn, optim")


def names(info):
    return [step["number"] for step in info["steps"]]


def test_steps_end_with_the_optimizer_and_the_output_is_the_programs_own(run, info, tmp_path):
    done = run(EMBEDDED, arguments=["a", "-o", "b"])
    assert done.stdout == "trained ['a', '-o', 'b']\n"
    recorded = info(tmp_path / "train.mtrec")
    assert names(recorded) == [1, 2, 3, 4, 5]  # the time before the end of the first step is recorded, but it is not a step
    assert recorded["metadata"]["mtprof_run"]["steps"] == 6
    assert sorted(os.listdir(tmp_path)) == ["train.mtrec", "train.py"]


def test_the_last_lines_say_where_the_time_went_and_what_to_do_next(run):
    lines = [line.removeprefix("mtprof: ").split(maxsplit=1) for line in run(EMBEDDED).stderr.splitlines()[1:]]
    assert [line[0] for line in lines] == ["steps", "largest", "cost", "lost", "file", "next"]
    assert lines[0][1].startswith("5 steps, median ")
    assert lines[1][1].count("% of host time") == 3
    assert lines[3][1] == "nothing"
    assert lines[5][1].endswith("train.mtrec")


def test_an_existing_recording_is_not_overwritten_unless_it_is_named(run, tmp_path):
    run(EMBEDDED)
    run(EMBEDDED)
    assert (tmp_path / "train.mtrec").exists() and (tmp_path / "train.2.mtrec").exists()
    run(EMBEDDED, "-o", "train.mtrec")
    assert not (tmp_path / "train.3.mtrec").exists()


def test_chosen_steps_alone_are_recorded(run, info, tmp_path):
    run(EMBEDDED, "--steps", "2:4", "--shapes")
    assert names(info(tmp_path / "train.mtrec")) == [2, 3]
    run(EMBEDDED, "-o", "b.json.gz", "--wait", "1", "--warmup", "1", "--active", "3")
    assert names(info(tmp_path / "b.json.gz")) == [2, 3, 4]


def test_the_last_steps_can_be_kept_alone(run, info, tmp_path):
    run(EMBEDDED, "--keep-last", "2")
    assert names(info(tmp_path / "train.mtrec"))[-1] == 5
    assert 1 not in names(info(tmp_path / "train.mtrec"))


def test_a_program_that_ends_before_the_chosen_steps_is_told_so(run, tmp_path):
    done = run(EMBEDDED, "--steps", "50:60")
    assert "made 6 steps, fewer than it takes to record step 50" in done.stderr
    assert os.listdir(tmp_path) == ["train.py"]


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("sys.exit(3)", 3),
        ("raise ValueError('wrong')", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    ],
)
def test_a_program_that_fails_leaves_its_recording_and_its_status(run, info, tmp_path, ending, status):
    run(EMBEDDED + ending, status=status)
    assert names(info(tmp_path / "train.mtrec")) == [1, 2, 3, 4, 5]


def test_a_program_that_is_killed_leaves_what_it_had_written(run, info, tmp_path):
    many = EMBEDDED.replace("range(6)", "range(3000)") + "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    done = run(many, "--max-memory", "1MB", status=-signal.SIGKILL)
    assert "no regular end" in done.stderr
    assert len(names(info(tmp_path / "train.mtrec"))) > 10
    assert sorted(os.listdir(tmp_path)) == ["train.mtrec", "train.py"]


def test_a_program_without_an_optimizer_is_recorded_as_a_whole(run, info, tmp_path):
    done = run("import mindtorch_v2 as torch\ntorch.ones(3).sum()")
    assert "no optimizer step" in done.stderr
    assert info(tmp_path / "train.mtrec")["events"] > 0


def test_any_command_and_any_module_can_be_run(run, info, tmp_path):
    run(EMBEDDED, "-o", "a.mtrec", "--", "sh", "-c", f"{sys.executable} train.py && echo done")
    assert names(info(tmp_path / "a.mtrec")) == [1, 2, 3, 4, 5]
    run(EMBEDDED, "-o", "b.mtrec", "-m", "train", environment={"PYTHONPATH": f"{tmp_path}:{os.environ['PYTHONPATH']}"})
    assert names(info(tmp_path / "b.mtrec")) == [1, 2, 3, 4, 5]


def test_the_native_program_hands_over_to_python(run, info, tmp_path):
    assert run(EMBEDDED, native=True).stdout == "trained []\n"
    assert names(info(tmp_path / "train.mtrec")) == [1, 2, 3, 4, 5]
    done = run(EMBEDDED, native=True, environment={"PATH": str(tmp_path)}, status=1)
    assert "python3 cannot be started" in done.stderr


def test_the_native_program_finds_the_interpreter_that_the_program_names(run, info, tmp_path):
    nowhere = {"PATH": str(tmp_path)}
    done = run(EMBEDDED, "-o", "train.mtrec", "--", sys.executable, "train.py", native=True, environment=nowhere)
    assert done.stdout == "trained []\n"
    assert names(info(tmp_path / "train.mtrec")) == [1, 2, 3, 4, 5]


def test_processes_that_train_get_a_file_each_and_others_none(run, tmp_path):
    text = EMBEDDED.replace("model =", "def work():\n  model =").replace("\noptimizer", "\n  optimizer").replace("\nfor", "\n  for")
    text = text.replace("\n    ", "\n      ").replace("\nprint", "\n  print")
    text += """
if __name__ == "__main__":
    import multiprocessing
    for method in ("spawn", "fork"):
        context = multiprocessing.get_context(method)
        children = [context.Process(target=work), context.Process(target=int)]
        for child in children:
            child.start()
        for child in children:
            child.join()
"""
    done = run(text)
    recordings = [name for name in os.listdir(tmp_path) if name.endswith(".mtrec")]
    assert len(recordings) == 2 and all(name.startswith("train.process") for name in recordings), done.stderr


def test_a_sitecustomize_of_the_environment_still_runs(run, tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("print('customized')")
    done = run(EMBEDDED, environment={"PYTHONPATH": f"{folder}:{os.environ['PYTHONPATH']}"})
    assert done.stdout.startswith("customized\n")


def test_a_program_that_records_nothing_is_told_so(run, tmp_path):
    done = run("print(1)", status=0)
    assert done.stdout == "1\n" and "nothing was recorded" in done.stderr
    assert os.listdir(tmp_path) == ["train.py"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "5:5"], "not a range of steps"),
        (["--max-memory", "much"], "not a size"),
        (["--wait", "3"], "need --active"),
        (["--slice", "0"], "not a number of seconds"),
        (["-o", "x.html"], "must end in .mtrec"),
        (["-o", "no/such/folder.mtrec"], "there is no folder"),
        (["--", "no-such-command"], "cannot be started"),
    ],
)
def test_wrong_usage_is_explained(run, tmp_path, options, message):
    status = 127 if options[0] == "--" else 2
    assert message in run("", *options, status=status).stderr
    assert os.listdir(tmp_path) == ["train.py"]


@pytest.mark.torch
def test_an_unchanged_pytorch_program_is_recorded(run, info, tmp_path, bridged_torch):
    done = run(TORCH, "--all")
    assert done.stdout == "trained []\n"
    recorded = info(tmp_path / "train.mtrec")
    assert names(recorded) == [1, 2, 3, 4, 5] and recorded["losses"] == []
    assert recorded["kinds"]["backward"] > 0 and recorded["kinds"]["module"] > 0 and recorded["memory_reports"] > 0


@pytest.mark.torch
def test_each_rank_of_torchrun_has_its_file(run, info, tmp_path, bridged_torch):
    text = "import torch.distributed as dist\ndist.init_process_group('gloo')\n" + TORCH + "\ndist.destroy_process_group()\n"
    run(text, "-o", "job.mtrec", "--", sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py")
    assert sorted(path.name for path in tmp_path.glob("*.mtrec")) == ["job.rank0.mtrec", "job.rank1.mtrec"]
    assert info(tmp_path / "job.rank1.mtrec")["metadata"]["distributedInfo"]["rank"] == 1


@pytest.mark.torch
def test_one_optimizer_of_several_counts_the_steps(run, info, tmp_path, bridged_torch):
    text = TORCH.replace("    optimizer.step()", "    optimizer.step()\n    other.step()").replace(
        "optimizer = ", "other = optim.Adam(model.parameters())\noptimizer = "
    )
    run(text)
    assert names(info(tmp_path / "train.mtrec")) == [1, 2, 3, 4, 5]


# Computes until the recorder has written the slices that were asked for.
WITHOUT_OPTIMIZER = """
import glob, time
import mindtorch_v2 as torch

deadline = time.monotonic() + 120
while not glob.glob(".*.parts/[0-9]*.mtrec") or glob.glob(".*.parts/*.partial.mtrec"):
    torch.mm(torch.ones(64, 64), torch.ones(64, 64))
    assert time.monotonic() < deadline
"""


def test_without_an_optimizer_the_chosen_steps_are_slices_of_time(run, info, tmp_path):
    for steps in ("2:4", "0:2"):
        # Long enough for the first op, which loads the runtime, also on a busy machine.
        done = run(WITHOUT_OPTIMIZER, "-o", "a.mtrec", "--steps", steps, "--slice", "1")
        recorded = info(tmp_path / "a.mtrec")
        assert recorded["kinds"]["op"] > 0 and recorded["metadata"]["mtprof_run"]["step_source"] == "slices"
        assert "no optimizer step" in done.stderr
        assert sorted(os.listdir(tmp_path)) == ["a.mtrec", "train.py"]


def test_slices_give_way_to_the_steps_of_an_optimizer(run, info, tmp_path):
    run(WITHOUT_OPTIMIZER + EMBEDDED, "-o", "a.mtrec", "--steps", "2:4", "--slice", "0.05")
    recorded = info(tmp_path / "a.mtrec")
    assert names(recorded) == [2, 3] and recorded["metadata"]["mtprof_run"]["step_source"] == "optimizer"


def test_a_program_that_ends_before_the_chosen_slices_is_told_so(run, tmp_path):
    done = run("import mindtorch_v2 as torch\ntorch.ones(3).sum()", "--steps", "1000:1001")
    assert "a step is a slice of time (--slice)" in done.stderr
    assert os.listdir(tmp_path) == ["train.py"]
