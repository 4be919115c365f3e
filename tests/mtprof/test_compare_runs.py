"""mtprof diff and mtprof check on traces of runs whose differences are known."""

import csv
import io
import json
import random
import subprocess
import xml.etree.ElementTree

import pytest


@pytest.fixture
def mtprof(program):
    def run(*arguments, status=0):
        result = subprocess.run([program("mtprof"), *map(str, arguments)], capture_output=True, text=True, check=False)
        assert result.returncode == status, result.stdout + result.stderr
        return result

    return run


def write_run(path, seed, steps=30, mm_us=100.0, extra_op=None, function_us=0.0, dtype="float", has_steps=True):
    """A Chrome trace of `steps` steps, each with a matrix product and twenty small ops, all with one percent of noise.

    A Python function that records nothing runs after the product.
    """
    rng = random.Random(seed)
    events, now = [], 1000.0
    for step in range(steps):
        begin = now
        ops = [("aten::mm", mm_us)] + [(f"aten::op{i}", 10.0 + i) for i in range(20)]
        for name, typical in ops + ([(extra_op, 5.0)] if extra_op else []):
            duration = typical * rng.gauss(1, 0.01)
            arguments = {"Input Dims": [[8, 8], [8, 8]], "Input type": [dtype, dtype]} if name == "aten::mm" else {}
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": now, "dur": duration, "args": arguments})
            now += duration + 1 + (function_us * rng.gauss(1, 0.01) if name == "aten::mm" else 0)
        annotation = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "args": {}}
        if has_steps:
            events.append({**annotation, "ts": begin, "dur": now - begin})
        now += 5
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture
def runs(tmp_path):
    return {
        "base": write_run(tmp_path / "base.json", 1),
        "same": write_run(tmp_path / "same.json", 2),
        "slower": write_run(tmp_path / "slower.json", 3, mm_us=103.0),
        "much_slower": write_run(tmp_path / "much_slower.json", 4, mm_us=130.0),
        "extra": write_run(tmp_path / "extra.json", 5, extra_op="aten::item"),
    }


def changed(result):
    return {row["name"]: row["change"] for row in json.loads(result.stdout)["rows"] if row["change"] != "same"}


def test_diff_finds_an_op_that_is_three_percent_slower_and_nothing_else(mtprof, runs):
    result = mtprof("diff", runs["base"], runs["slower"], "--json")
    assert changed(result) == {"aten::mm": "slower"}
    (row,) = [row for row in json.loads(result.stdout)["rows"] if row["name"] == "aten::mm"]
    assert row["time_change_low_ns"] <= 3000 <= row["time_change_high_ns"]
    assert row["calls_before"] == row["calls_after"] == 1


def test_diff_of_equal_runs_shows_no_change(mtprof, runs):
    assert changed(mtprof("diff", runs["base"], runs["same"], "--json")) == {}
    assert "21 of 21 kinds of work show no change beyond noise" in mtprof("diff", runs["base"], runs["same"]).stdout


def test_diff_names_new_and_gone_ops(mtprof, runs):
    assert changed(mtprof("diff", runs["base"], runs["extra"], "--json")) == {"aten::item": "new"}
    assert changed(mtprof("diff", runs["extra"], runs["base"], "--json")) == {"aten::item": "gone"}


def test_diff_as_csv_has_the_rows_of_the_json(mtprof, runs):
    rows = list(csv.DictReader(io.StringIO(mtprof("diff", runs["base"], runs["slower"], "--csv").stdout)))
    document = json.loads(mtprof("diff", runs["base"], runs["slower"], "--json").stdout)
    assert [row["name"] for row in rows] == [row["name"] for row in document["rows"]]


def test_a_function_that_records_nothing_is_the_first_row_of_diff(mtprof, runs, tmp_path):
    after = write_run(tmp_path / "function.json", 6, function_us=10_000)
    document = json.loads(mtprof("diff", runs["base"], after, "--json").stdout)
    first = document["parts"][0]
    assert (first["name"], first["change"]) == ("after aten::mm", "slower")
    assert 9_900_000 < first["mean_after_ns"] - first["mean_before_ns"] < 10_100_000
    rows = [line for line in mtprof("diff", runs["base"], after).stdout.splitlines() if line.strip().startswith(("+", "-"))]
    assert rows[0].endswith("after aten::mm")


def test_parts_add_up_to_the_change_of_the_step(mtprof, runs):
    document = json.loads(mtprof("diff", runs["base"], runs["much_slower"], "--json").stdout)
    parts = sum(part["mean_after_ns"] - part["mean_before_ns"] for part in document["parts"])
    unusual = document["unusual_after_ns"] - document["unusual_before_ns"]
    assert parts + unusual == pytest.approx(document["mean_after_ns"] - document["mean_before_ns"], abs=1)
    assert document["explained_ns"] == pytest.approx(30_000, rel=0.1)


def test_diff_names_the_types_that_changed(mtprof, runs, tmp_path):
    after = write_run(tmp_path / "double.json", 7, mm_us=200.0, dtype="double")
    document = json.loads(mtprof("diff", runs["base"], after, "--json").stdout)
    assert document["parts"][0]["notes"] == ["float32 → float64"]
    assert "aten::mm (forward); float32 → float64" in mtprof("diff", runs["base"], after).stdout


def test_check_that_cannot_decide_has_a_status_of_its_own(mtprof, runs, tmp_path):
    few = write_run(tmp_path / "few.json", 8, steps=2)
    limit = ["--max", "step_time=+300%"]
    result = mtprof("check", few, "--baseline", runs["base"], *limit, status=3)
    assert (
        "more steps are needed" in result.stdout and "0 of 1 limits exceeded, 1 undecided" in result.stdout and "inf" not in result.stdout
    )
    document = json.loads(mtprof("check", few, "--baseline", runs["base"], *limit, "--json", status=3).stdout)
    assert document["unclear"] == 1


def test_check_passes_within_the_limits_and_fails_above_them(mtprof, runs):
    limits = ["--max", "step_time=+3%", "--max", "op:aten::mm=+10%"]
    assert "0 of 2 limits exceeded" in mtprof("check", runs["same"], "--baseline", runs["base"], *limits).stdout
    result = mtprof("check", runs["much_slower"], "--baseline", runs["base"], *limits, status=1)
    assert "2 of 2 limits exceeded" in result.stdout


def test_check_writes_junit_and_annotations(mtprof, runs, tmp_path):
    report = tmp_path / "report.xml"
    result = mtprof(
        *("check", runs["much_slower"], "--baseline", runs["base"], "--max", "op:aten::mm=+10%", "--max", "calls:aten::mm=0%"),
        *("--junit", report, "--github"),
        status=1,
    )
    suite = xml.etree.ElementTree.parse(report).getroot()
    assert suite.get("tests") == "2" and suite.get("failures") == "1"
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["op:aten::mm"]
    assert result.stdout.count("::error ") == 1 and "%25" in result.stdout


def test_check_refuses_what_is_not_a_limit(mtprof, runs):
    result = mtprof("check", runs["same"], "--baseline", runs["base"], "--max", "step_time=3", status=1)
    assert "is not a limit such as step_time=+3%" in result.stderr
    assert (
        "peak_memory needs memory" in mtprof("check", runs["same"], "--baseline", runs["base"], "--max", "peak_memory=1%", status=1).stderr
    )


def test_two_runs_are_given_in_one_way_to_every_command(mtprof, runs):
    before, after = runs["base"], runs["much_slower"]
    commands = (("diff",), ("check", "--max", "step_time=+1%"))
    for command, *options in commands:
        status = 1 if command == "check" else 0
        answer = mtprof(command, before, after, *options, status=status).stdout
        assert mtprof(command, after, "--baseline", before, *options, status=status).stdout == answer
        assert "two files too" in mtprof(command, before, after, "--baseline", before, *options, status=2).stderr
        assert "BEFORE AFTER" in mtprof(command, after, *options, status=2).stderr
