"""mtprof ranks on jobs whose slow rank, clocks and faults are known.

Tests mindtorch/export/report/job_writer.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from job_traces import Job


@pytest.fixture
def ranks(program):
    def run(*arguments, status=0):
        command = [program("mtprof"), "ranks", *map(str, arguments), "--json"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == status, result.stdout + result.stderr
        return json.loads(result.stdout)

    return run


SLOW = 0.25  # seconds per step, many times what a busy machine adds


def faults(job):
    return {(fault["kind"], fault["rank"]) for fault in job["faults"]}


@pytest.mark.parametrize("gpu", [False, True])
def test_the_slow_rank_its_time_and_its_op_are_found(ranks, tmp_path, gpu):
    job = ranks(Job(ranks=4, steps=8, slow=2, slow_us=5000, gpu=gpu).write(tmp_path))
    worst = job["stragglers"][0]
    assert worst["rank"] == 2
    assert worst["seconds_lost"] == pytest.approx(8 * 0.005, rel=0.1)
    names = {op["name"]: op["seconds_lost"] for op in worst["ops"]}
    assert names["aten::slow"] == pytest.approx(8 * 0.005, rel=0.1)
    assert len(job["stragglers"]) == 1 and job["faults"] == []


def test_clocks_that_are_minutes_apart_are_recovered_within_the_bound(ranks, tmp_path):
    offsets = {1: 3000.0, 2: -95e6, 3: 240e6}
    job = ranks(Job(ranks=4, steps=10, offsets_us=offsets).write(tmp_path))
    for rank in job["ranks"]:
        (clock,) = rank["clock"]
        assert abs(clock["offset_ns"] - offsets.get(rank["rank"], 0.0) * 1000) <= clock["error_ns"]
        assert clock["error_ns"] < 1e6
    assert job["stragglers"] == []  # a clock that is late does not make a rank late


def test_communication_is_told_by_collective_size_and_group(ranks, tmp_path):
    job = ranks(Job(ranks=2, steps=5, gpu=True).write(tmp_path))
    (row,) = [row for row in job["communication"] if row["collective"] == "all_reduce"]
    assert (row["collective"], row["group"], row["bytes"], row["count"], row["ranks"]) == ("all_reduce", "0", 4 << 20, 5, 2)
    assert row["transfer_seconds"] == pytest.approx(5 * 200e-6, rel=0.1)
    assert row["bytes_per_second"] == pytest.approx((4 << 20) / 200e-6, rel=0.1)


def test_steps_use_and_the_critical_path_add_up(ranks, tmp_path):
    job = ranks(Job(ranks=3, steps=6, slow=1, gpu=True).write(tmp_path))
    for rank in job["ranks"]:
        assert sum(rank["use"].values()) == pytest.approx(rank["step_seconds"], rel=1e-6)
    assert [step["number"] for step in job["steps"]] == list(range(6))
    assert all(piece["rank"] == 1 for piece in job["critical_path"]) and len(job["critical_path"]) == 6


def test_a_step_that_took_unusually_long_is_marked(ranks, tmp_path):
    folder = Job(ranks=2, steps=9).write(tmp_path)
    for path in folder.glob("*.json"):
        trace = json.loads(path.read_text())
        for event in trace["traceEvents"]:
            event["ts"] += 9000.0 if event["ts"] > 1e9 + 5000 else 0.0  # everything after the fifth step or so comes later
        steps = [event for event in trace["traceEvents"] if event["name"].startswith("ProfilerStep")]
        before = max((event for event in steps if event["ts"] < 1e9 + 5000), key=lambda event: event["ts"])
        before["dur"] += 9000.0
        path.write_text(json.dumps(trace))
    long = [step["number"] for step in ranks(folder)["steps"] if step["is_outlier"]]
    assert len(long) == 1


def test_faults_are_told_and_the_rest_is_answered(ranks, tmp_path):
    folder = Job(ranks=20, steps=6, slow=7).write(tmp_path)
    (folder / "trace-3.json").write_text("no trace at all")
    (folder / "trace-4.json").unlink()
    whole = (folder / "trace-5.json").read_text()
    (folder / "trace-5.json").write_text(whole[: len(whole) // 2])
    (folder / "another-6.json").write_text((folder / "trace-6.json").read_text())
    job = ranks(folder, status=1)
    assert {("unreadable", None), ("duplicate", 6), ("damaged", 5)} <= faults(job)
    (missing,) = [fault for fault in job["faults"] if fault["kind"] == "missing"]
    assert "3, 4" in missing["text"]
    assert job["stragglers"][0]["rank"] == 7 and len(job["ranks"]) == 18


def test_a_rank_that_died_is_told(ranks, tmp_path):
    folder = Job(ranks=4, steps=8).write(tmp_path)
    path = folder / "trace-2.json"
    trace = json.loads(path.read_text())
    end = max(event["ts"] for event in trace["traceEvents"] if event["name"] == "ProfilerStep#4")
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event["ts"] < end]
    path.write_text(json.dumps(trace))
    assert ("ended_early", 2) in faults(ranks(folder))


def test_a_clock_that_jumps_is_told(ranks, tmp_path):
    folder = Job(ranks=4, steps=8).write(tmp_path)
    path = folder / "trace-1.json"
    trace = json.loads(path.read_text())
    middle = max(event["ts"] for event in trace["traceEvents"] if event["name"] == "ProfilerStep#4")
    for event in trace["traceEvents"]:
        event["ts"] += 2e6 if event["ts"] >= middle else 0.0
    path.write_text(json.dumps(trace))
    job = ranks(folder)
    assert ("clock_jump", 1) in faults(job)
    assert len(job["ranks"][1]["clock"]) == 2


def test_compressed_traces_in_folders_below_are_read(ranks, tmp_path):
    (tmp_path / "node1").mkdir()
    Job(ranks=2, steps=3).write(tmp_path / "node1", suffix=".json.gz")
    assert [rank["rank"] for rank in ranks(tmp_path)["ranks"]] == [0, 1]


def test_files_that_do_not_tell_their_rank_are_numbered(ranks, tmp_path):
    folder = Job(ranks=2, steps=3).write(tmp_path)
    for path in folder.glob("*.json"):
        trace = json.loads(path.read_text())
        del trace["distributedInfo"]
        path.write_text(json.dumps(trace))
    job = ranks(folder)
    assert faults(job) == {("no_rank", 0), ("no_rank", 1)}


def test_the_rank_may_be_in_the_name_of_the_file(ranks, tmp_path):
    folder = Job(ranks=2, steps=3).write(tmp_path)
    for rank in range(2):
        trace = json.loads((folder / f"trace-{rank}.json").read_text())
        del trace["distributedInfo"]
        (folder / f"trace-{rank}.json").unlink()
        (folder / f"run.rank{1 - rank}.json").write_text(json.dumps(trace))
    job = ranks(folder)
    assert job["faults"] == [] and job["ranks"][0]["file"].endswith("run.rank0.json")


def test_summaries_give_the_same_answer_as_the_recordings(ranks, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    Job(ranks=6, steps=6, slow=4).write(folder)
    whole = ranks(folder)
    parts = tmp_path / "parts"
    parts.mkdir()
    files = sorted(folder.iterdir())
    for place, half in enumerate((files[:3], files[3:])):
        ranks(*half, "--summaries", parts / f"part{place}.mtsum", status=1)  # half of the ranks is missing
    assert ranks(parts) == whole


@pytest.mark.parametrize("gpu", [False, True])
def test_chosen_ranks_and_steps_are_merged_on_one_clock_with_arrows(ranks, program, tmp_path, gpu):
    folder = tmp_path / "job"
    folder.mkdir()
    Job(ranks=4, steps=6, gpu=gpu, offsets_us={1: 3e6, 3: -60e6}).write(folder)
    merged = tmp_path / "merged.json"
    ranks(folder, "--merge", merged, "--merge-ranks", "0,1,3", "--merge-steps", "2:4")
    events = json.loads(merged.read_text())["traceEvents"]
    steps = [event for event in events if event["name"].startswith("ProfilerStep") and event.get("cat") == "user_annotation"]
    assert sorted(event["name"] for event in steps) == ["ProfilerStep#2"] * 3 + ["ProfilerStep#3"] * 3
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL" if gpu else "gloo:all_reduce"
    ends = sorted(event["ts"] + event["dur"] for event in events if event["name"] == name and event["ph"] == "X")
    assert len(ends) == 6 and ends[2] - ends[0] < 1000 and ends[5] - ends[3] < 1000  # microseconds
    arrows = [event["ph"] for event in events if event.get("cat") == "collective"]
    collectives = 4 if gpu else 2
    assert arrows.count("s") == arrows.count("f") == 2 * collectives  # from one rank to two others
    subprocess.run([program("mtprof"), "validate", merged], check=True, capture_output=True)
    ranks(folder, "--merge", tmp_path / "merged.pftrace")
    assert (tmp_path / "merged.pftrace").stat().st_size > 10_000


def test_wrong_steps_to_merge_are_explained(program, tmp_path):
    Job(ranks=2, steps=3).write(tmp_path)
    command = [program("mtprof"), "ranks", tmp_path, "--merge", tmp_path / "merged.pftrace", "--merge-steps", "5:2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (
        done.returncode == 2
        and "--merge-steps 5:2: the second number must be larger" in done.stderr
        and not (tmp_path / "merged.pftrace").exists()
    )


@pytest.mark.parametrize(
    ("option", "value", "told"), [("--merge-ranks", "0,9", "rank 9"), ("--merge-steps", "90:95", "there are steps 0 to 5")]
)
def test_ranks_and_steps_that_were_not_recorded_are_not_merged(program, tmp_path, option, value, told):
    Job().write(tmp_path)
    command = [program("mtprof"), "ranks", tmp_path, "--merge", tmp_path / "merged.pftrace", option, value]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and told in done.stderr and not (tmp_path / "merged.pftrace").exists()


def test_ranks_that_only_send_and_receive_are_not_said_to_be_equally_fast(program, tmp_path):
    for path in Job(ranks=2, slow=1).write(tmp_path).iterdir():
        path.write_text(path.read_text().replace("gloo:all_reduce", "gloo:send"))
    done = subprocess.run([program("mtprof"), "ranks", tmp_path], capture_output=True, text=True, check=True)
    assert "not known who waits for whom" in done.stdout and "No rank makes" not in done.stdout and "clocks up to" not in done.stdout


def test_one_rank_alone_is_answered(program, tmp_path):
    Job(ranks=1).write(tmp_path)
    done = subprocess.run([program("mtprof"), "ranks", tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1 rank of 1, 6 steps\n") and "others wait" not in done.stdout


def test_the_text_names_the_slow_rank_and_its_op(program, tmp_path):
    Job(ranks=3, steps=6, slow=1).write(tmp_path)
    done = subprocess.run([program("mtprof"), "ranks", tmp_path], capture_output=True, text=True, check=True)
    assert "Others wait for rank 1" in done.stdout and "aten::slow" in done.stdout


def page_data(path):
    text = path.read_text()
    return json.loads(text.split('<script type="application/json" id="report-data">')[1].split("</script>")[0])


def test_the_page_of_a_job_holds_what_the_json_holds(ranks, tmp_path):
    page = tmp_path / "job.html"
    job = ranks(Job(ranks=4, steps=8, slow=2, gpu=True).write(tmp_path), "-o", page)
    data = page_data(page)
    assert [row[0] for row in data["ranks"]["rows"]] == [0, 1, 2, 3]
    assert data["stragglers"][0]["rank"] == 2
    assert data["stragglers"][0]["lost"] == pytest.approx(job["stragglers"][0]["seconds_lost"] * 1e9, abs=1)
    assert len(data["map"]["micros"]) == 4 * 8 and all(value > 0 for value in data["map"]["micros"])
    assert [row[0] for row in data["communication"]["rows"]] == [row["collective"] for row in job["communication"]]
    assert len(data["path"]["rows"]) == len(job["critical_path"])
    assert data["clocks"]["error"] == max(rank["clock"][0]["error_ns"] for rank in job["ranks"])


def test_a_page_needs_a_name_that_browsers_know(program, tmp_path):
    Job(ranks=2).write(tmp_path)
    done = subprocess.run([program("mtprof"), "ranks", tmp_path, "-o", tmp_path / "job.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "must end with .html" in done.stderr


def test_the_page_of_a_thousand_ranks_stays_small(ranks, tmp_path):
    folder, page = tmp_path / "job", tmp_path / "job.html"
    folder.mkdir()
    job = ranks(Job(ranks=1024, steps=40, ops=3, slow=700).write(folder), "-o", page)
    assert page.stat().st_size < 5_000_000
    data = page_data(page)
    assert len(data["ranks"]["rows"]) == 1024 and data["stragglers"][0]["rank"] == job["stragglers"][0]["rank"] == 700


def test_a_folder_without_recordings_is_explained(program, tmp_path):
    done = subprocess.run([program("mtprof"), "ranks", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "no .mtrec" in done.stderr
    done = subprocess.run([program("mtprof"), "ranks", tmp_path / "none"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "none" in done.stderr


@pytest.fixture
def gloo_job(tmp_path, bridged_torch):
    """Runs a job of several processes and gives the folder with their recordings."""

    def run(world_size, **settings):
        everything = {"parallel": "ddp", "suffix": ".mtrec", "steps": 8, "slow_rank": 1, "slow_seconds": SLOW, "slow_in": "op", **settings}
        command = [sys.executable, Path(__file__).with_name("run_rank.py")]
        processes = [
            subprocess.Popen([*command, str(rank), str(world_size), tmp_path, json.dumps(everything)], stderr=subprocess.PIPE, text=True)
            for rank in range(world_size)
        ]
        for process in processes:
            _, errors = process.communicate(timeout=240)
            assert process.returncode == 0, errors
        return tmp_path

    return run


def assert_found(job, rank, seconds, work):
    """On a busy machine, ranks are also late by milliseconds in turn, in pieces of the path without the slow work. That is lost too.

    Where the machine stops another rank while the slow work runs, the job does not lose that time to the slow rank. So there may be one
    step in which the slow rank is hardly late. The tests of made-up jobs are exact.
    """
    worst = job["stragglers"][0]
    assert worst["rank"] == rank
    late = [piece["late_seconds"] for piece in job["critical_path"] if piece["rank"] == rank]
    assert worst["seconds_lost"] == pytest.approx(sum(late), rel=1e-6)
    assert worst["ops"][0]["name"] == work
    for found in (sum(one for one in late if one >= SLOW / 4), worst["ops"][0]["seconds_lost"]):
        assert 0.9 * (seconds - SLOW) <= found <= 1.1 * seconds


@pytest.mark.torch
@pytest.mark.parametrize(("world_size", "suffix"), [(2, ".mtrec"), (4, ".mtrec"), (2, ".json")])
def test_a_slow_op_of_a_ddp_job_is_found(ranks, gloo_job, world_size, suffix):
    job = ranks(gloo_job(world_size, slow_rank=world_size - 1, suffix=suffix))
    assert_found(job, world_size - 1, 8 * SLOW, "ranks_test::slow")


def shifted(trace, seconds):
    for event in trace["traceEvents"]:
        if "ts" in event:
            event["ts"] += seconds * 1e6
    return trace


@pytest.fixture
def skewed_clock(ranks, tmp_path):
    """The clock of the second of two ranks, if it had been so many seconds ahead."""

    def measure(folder, seconds):
        skewed = tmp_path / f"skewed_by_{seconds}"
        skewed.mkdir()
        (skewed / "rank0.json").write_text((folder / "rank0.json").read_text())
        second = shifted(json.loads((folder / "rank1.json").read_text()), seconds)
        (skewed / "rank1.json").write_text(json.dumps(second, indent=1))
        (clock,) = ranks(skewed)["ranks"][1]["clock"]
        return clock

    return measure


@pytest.mark.torch
def test_skew_between_the_clocks_of_real_ranks_is_recovered_within_the_bound(ranks, gloo_job, skewed_clock):
    folder = gloo_job(2, suffix=".json", steps=6, slow_seconds=0.0)
    before = ranks(folder)["ranks"][1]["clock"][0]
    for seconds in (0.003, -0.4, 7.0, -130.0, 900.0):
        clock = skewed_clock(folder, seconds)
        assert abs(clock["offset_ns"] - seconds * 1e9) <= clock["error_ns"] + 1000  # files have microseconds; the true skew is zero
        assert abs(clock["offset_ns"] - before["offset_ns"] - seconds * 1e9) <= 1000


@pytest.mark.torch
@pytest.mark.slow
def test_a_thousand_ranks_made_of_real_ones_are_answered(ranks, gloo_job, tmp_path):
    """Copies of four ranks, each on a clock of its own. The copies of the slow rank are the stragglers."""
    folder = gloo_job(4, suffix=".json", slow_rank=2)
    sources = [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(4)]
    many = tmp_path / "many"
    many.mkdir()
    for rank in range(1024):
        trace = shifted(sources[rank % 4], 0.25)
        trace["distributedInfo"].update(rank=rank, world_size=1024)
        (many / f"rank{rank}.json").write_text(json.dumps(trace))
    job = ranks(many)
    assert len(job["ranks"]) == 1024 and job["stragglers"][0]["rank"] % 4 == 2
    assert job["stragglers"][0]["seconds_lost"] == pytest.approx(8 * SLOW, rel=0.1)
    assert job["stragglers"][0]["ops"][0]["name"] == "ranks_test::slow"
    for rank in job["ranks"]:
        (clock,) = rank["clock"]
        assert abs(clock["offset_ns"] - rank["rank"] // 4 * 0.25e9) <= clock["error_ns"] + 1000


@pytest.mark.torch
@pytest.mark.parametrize("world_size", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_a_slow_op_of_an_fsdp_job_is_found(ranks, gloo_job, world_size):
    job = ranks(gloo_job(world_size, parallel="fsdp", slow_rank=world_size - 2))
    assert_found(job, world_size - 2, 8 * SLOW, "ranks_test::slow")


@pytest.mark.torch
@pytest.mark.parametrize(("slow_in", "work"), [("scope", "augment"), ("python", "Python (outside of ops and scopes)")])
def test_time_lost_outside_of_ops_is_found(ranks, gloo_job, slow_in, work):
    assert_found(ranks(gloo_job(2, slow_in=slow_in)), 1, 8 * SLOW, work)


@pytest.mark.torch
@pytest.mark.parametrize("suffix", [".mtrec", ".json"])
def test_collectives_of_several_groups_on_gloo_are_matched_in_their_group(ranks, gloo_job, suffix):
    job = ranks(gloo_job(4, pairs=True, steps=6, slow_seconds=0.0, suffix=suffix))
    assert job["groups"] == [{"name": "0", "ranks": [0, 1, 2, 3]}, {"name": "1", "ranks": [0, 1]}, {"name": "2", "ranks": [2, 3]}]
    rows = {(row["group"], row["bytes"]): (row["count"], row["ranks"]) for row in job["communication"] if row["group"] != "0"}
    assert rows == {("1", 400): (6, 2), ("2", 400): (12, 2)}
    assert {row["ranks"] for row in job["communication"] if row["group"] == "0"} == {4}
    assert not {"unknown_groups", "unmatched"} & {fault["kind"] for fault in job["faults"]}


@pytest.mark.torch
def test_idle_groups_on_gloo_are_not_mistaken_for_those_that_work(ranks, gloo_job):
    """Groups 1 and 2 are idle, so the threads of group 3 are the second pair of threads that work."""
    job = ranks(gloo_job(2, pairs=True, idle_groups=2, steps=3, slow_seconds=0.0))
    assert [group["name"] for group in job["groups"]] == ["0", "1", "2", "3"]
    rows = {(row["group"], row["bytes"]): row["count"] for row in job["communication"] if row["group"] != "0"}
    assert rows == {("3", 400): 3}
    assert not {"unknown_groups", "unmatched"} & {fault["kind"] for fault in job["faults"]}


@pytest.mark.torch
@pytest.mark.parametrize(
    ("world_size", "slow_rank", "suffix"),
    [(2, 0, ".mtrec"), (2, 1, ".json"), (4, 1, ".mtrec"), pytest.param(4, 3, ".json", marks=pytest.mark.slow)],
)
def test_the_slow_stage_of_a_pipeline_is_found(ranks, gloo_job, world_size, slow_rank, suffix):
    job = ranks(gloo_job(world_size, parallel="pipeline", slow_rank=slow_rank, slow_seconds=SLOW / 2, suffix=suffix))
    assert_found(job, slow_rank, 8 * SLOW, "ranks_test::slow")  # two microbatches in each step
    assert job["faults"] == []
    (row,) = job["communication"]
    assert (row["collective"], row["count"], row["ranks"], row["bytes"]) == ("send", 8 * 4 * (world_size - 1), 2, 8 * 64 * 4)
    for rank in job["ranks"]:
        (clock,) = rank["clock"]
        assert abs(clock["offset_ns"]) <= clock["error_ns"] + 1000  # all ranks have the clock of this machine


@pytest.mark.torch
def test_skew_between_the_stages_of_a_real_pipeline_is_recovered_within_the_bound(gloo_job, skewed_clock):
    folder = gloo_job(2, parallel="pipeline", suffix=".json", steps=4, slow_seconds=0.0)
    for seconds in (0.4, -130.0):
        clock = skewed_clock(folder, seconds)
        assert abs(clock["offset_ns"] - seconds * 1e9) <= clock["error_ns"] + 1000


@pytest.mark.torch
def test_messages_of_a_pipeline_are_arrows_in_one_timeline(ranks, gloo_job, tmp_path):
    folder = gloo_job(2, parallel="pipeline", steps=3, slow_seconds=0.0)
    merged = tmp_path / "merged.json"
    ranks(folder, "--merge", merged)
    arrows = [event["ph"] for event in json.loads(merged.read_text())["traceEvents"] if event.get("cat") == "collective"]
    assert arrows.count("s") == arrows.count("f") == 3 * 4


@pytest.mark.torch
def test_messages_that_do_not_tell_their_peer_are_told(ranks, gloo_job):
    job = ranks(gloo_job(2, parallel="pipeline", steps=2, slow_seconds=0.0, shapes=False))
    assert {("not_compared", None)} == faults(job)
    assert any("calls of send and recv do not tell their peer" in fault["text"] for fault in job["faults"])
