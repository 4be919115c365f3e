"""The ranks of a job from Python, on this machine and on a Dask cluster."""

import os
import signal
import subprocess

import pytest
from job_traces import Job
from mindtorch_v2 import fleet


@pytest.fixture
def folder(tmp_path):
    job = tmp_path / "job"
    job.mkdir()
    return Job(ranks=12, steps=6, slow=5).write(job)


def test_a_job_has_the_answers_as_attributes(folder):
    job = fleet.analyze(folder)
    assert job.stragglers[0]["rank"] == 5 and len(job.ranks) == 12
    assert "others wait for rank 5" in repr(job)
    with pytest.raises(AttributeError, match="no 'bandwidth'"):
        _ = job.bandwidth


def test_files_may_be_named_one_by_one(folder):
    files = sorted(folder.iterdir())[:3]
    assert len(fleet.analyze(files).ranks) == 3


def test_a_folder_that_is_missing_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"):
        fleet.analyze(tmp_path / "none")


def test_a_parquet_dataset_has_the_events_of_all_ranks_on_one_clock(tmp_path):
    pyarrow_dataset = pytest.importorskip("pyarrow.dataset")
    traces = tmp_path / "traces"
    traces.mkdir()
    Job(ranks=3, steps=4, offsets_us={1: 5e6, 2: -40e6}).write(traces)
    assert fleet.write_parquet(traces, tmp_path / "dataset", job="nightly") == [0, 1, 2]
    assert (tmp_path / "dataset" / "job=nightly" / "rank=1" / "step=2").is_dir()
    rows = pyarrow_dataset.dataset(tmp_path / "dataset", partitioning="hive").to_table().to_pylist()
    assert len(rows) == 3 * 4 * 22  # 20 ops, the collective and the step
    assert {(row["job"], row["rank"], row["step"]) for row in rows} == {("nightly", rank, step) for rank in range(3) for step in range(4)}
    ends = {}
    for row in rows:
        if row["name"] == "gloo:all_reduce":
            ends.setdefault(row["step"], []).append(row["start_ns"] + row["duration_ns"])
    assert all(max(times) - min(times) < 1e6 for times in ends.values())


@pytest.fixture
def cluster():
    """The address of a Dask scheduler with two workers, which are processes of their own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local:
        yield local


def test_a_cluster_gives_the_same_answer(folder, cluster):
    (folder / "trace-3.json").write_text("no trace")
    alone, together = fleet.analyze(folder), fleet.analyze(folder, scheduler=cluster.scheduler_address)
    assert together == alone


def test_a_worker_that_is_killed_does_not_change_the_answer(folder, cluster, tmp_path):
    """The first task that runs kills its worker; the scheduler gives its tasks to the other one."""
    from distributed import Client
    from mindtorch_v2 import _C

    def dying(files, flag):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return _C.summarize_ranks(files)
        os.kill(os.getpid(), signal.SIGKILL)

    with Client(cluster) as client:
        original = client.map
        client.map = lambda function, files, **options: original(lambda each: dying(each, str(tmp_path / "killed")), files, **options)
        together = fleet.analyze(folder, scheduler=client)
    assert (tmp_path / "killed").exists()
    assert together == fleet.analyze(folder)


def test_the_command_line_knows_the_scheduler(folder, cluster, program):
    command = [program("mtprof"), "ranks", folder, "--scheduler", cluster.scheduler_address]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Others wait for rank 5" in done.stdout


@pytest.fixture
def ranks_on_cluster(cluster, program):
    def run(*arguments, status=0):
        command = [program("mtprof"), "ranks", "--scheduler", cluster.scheduler_address, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


def test_pages_timelines_and_summaries_of_a_cluster_are_those_of_this_machine(folder, ranks_on_cluster, program, tmp_path):
    (folder / "trace-3.json").write_text("no trace")

    def outputs(name):
        return [f"{tmp_path}/{name}{suffix}" for suffix in (".html", ".pftrace", ".mtsum")]

    page, timeline, summaries = outputs("cluster")
    together = ranks_on_cluster(folder, "-o", page, "--merge", timeline, "--merge-ranks", "0,5", "--summaries", summaries, status=1)
    page, timeline, summaries = outputs("alone")
    command = [program("mtprof"), "ranks", folder, "-o", page, "--merge", timeline, "--merge-ranks", "0,5", "--summaries", summaries]
    alone = subprocess.run(command, capture_output=True, text=True)
    assert together.stdout == alone.stdout
    for of_cluster, of_this_machine in zip(outputs("cluster"), outputs("alone"), strict=True):
        with open(of_cluster, "rb") as first, open(of_this_machine, "rb") as second:
            assert first.read() == second.read(), of_cluster


def test_a_timeline_is_not_written_as_a_page(folder, ranks_on_cluster, tmp_path):
    done = ranks_on_cluster(folder, "-o", tmp_path / "job.pftrace", status=1)
    assert "--merge writes a timeline" in done.stderr and not (tmp_path / "job.pftrace").exists()
