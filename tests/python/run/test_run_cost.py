"""What recording costs: prices, the cost at these prices, and what the summary and the recording say."""

import math

import pytest
from mindtorch_v2.profiler._cost import Prices, Stretch, Work, measured_share
from run_programs import EMBEDDED

PRICES = Prices(op=50, node=500, module=1000)


def test_the_share_is_that_of_the_time_without_recording():
    work = Work(ops=100, nodes=10)  # 100 * 50 + 10 * 500 = 10,000 ns
    assert Stretch(work, 30_000).share(PRICES) == pytest.approx(0.5)
    assert Stretch(work, 32_000, own=2000).share(PRICES) == pytest.approx(0.6)
    assert Stretch(Work(modules=2), 12_000).share(PRICES) == pytest.approx(0.2)
    assert Stretch(Work(), 1000).share(PRICES) == 0
    assert math.isfinite(Stretch(Work(ops=1e9), 1000).share(PRICES))


def test_steps_with_and_without_recording_tell_the_cost_if_they_are_enough():
    even = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99]
    assert measured_share([1.3 * each for each in even], even) == pytest.approx(0.3)
    assert measured_share([1.3 * each for each in even], even[:4]) is None
    assert measured_share([1.3 * each for each in even], [0.2, 1.9, 0.5, 1.5, 1.0, 1.0]) is None


def test_a_run_says_what_it_cost(run, info, tmp_path):
    done = run(EMBEDDED)
    facts = info(tmp_path / "train.mtrec")["metadata"]["mtprof_run"]
    assert facts["cost_source"] == "prices" and 0 < facts["cost_share"] < 100
    assert facts["prices"]["op"] > 0 and facts["prices"]["node"] >= facts["prices"]["op"]
    assert set(facts["option_shares"]) == {"shapes", "memory", "stack"}
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("mtprof: cost")]
    assert "steps took about" in line and "by prices of ops" in line and " 0 ns" not in line


def test_an_option_that_is_recorded_has_no_price_left_to_tell(run, info, tmp_path):
    run(EMBEDDED, "--shapes", "--stack")
    assert set(info(tmp_path / "train.mtrec")["metadata"]["mtprof_run"]["option_shares"]) == {"memory"}


def test_a_page_is_made_when_the_program_has_ended(run, tmp_path):
    done = run(EMBEDDED, "--report")
    assert (tmp_path / "train.report.html").read_text().startswith("<!doctype html>")
    assert "page      train.report.html" in done.stderr


def test_after_a_job_the_next_command_looks_at_its_ranks():
    from pathlib import Path

    from mindtorch_v2.cli.run.pages import next_command

    assert next_command([Path("train.mtrec")]) == "mtprof report train.mtrec"
    ranks = [Path(f"out/job.rank{rank}.mtrec") for rank in range(2)]
    assert next_command(ranks) == "mtprof ranks out/job.rank0.mtrec out/job.rank1.mtrec"
    many = [Path(f"job.rank{rank}.mtrec") for rank in range(8)]
    assert next_command([*many, Path("job.process7.mtrec")]) == "mtprof ranks job.rank*.mtrec"
