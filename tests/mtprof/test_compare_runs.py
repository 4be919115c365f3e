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


def write_run(path, seed, steps=30, mm_us=100.0, extra_op=None):
    """A Chrome trace of `steps` steps, each with a matrix product and twenty small ops, all with one percent of noise."""
    rng = random.Random(seed)
    events, now = [], 1000.0
    for step in range(steps):
        begin = now
        ops = [("aten::mm", mm_us)] + [(f"aten::op{i}", 10.0 + i) for i in range(20)]
        for name, typical in ops + ([(extra_op, 5.0)] if extra_op else []):
            duration = typical * rng.gauss(1, 0.01)
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": now, "dur": duration, "args": {}})
            now += duration + 1
        annotation = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "args": {}}
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
    assert "21 of 21 rows show no change beyond noise" in mtprof("diff", runs["base"], runs["same"]).stdout


def test_diff_names_new_and_gone_ops(mtprof, runs):
    assert changed(mtprof("diff", runs["base"], runs["extra"], "--json")) == {"aten::item": "new"}
    assert changed(mtprof("diff", runs["extra"], runs["base"], "--json")) == {"aten::item": "gone"}


def test_diff_as_csv_has_the_rows_of_the_json(mtprof, runs):
    rows = list(csv.DictReader(io.StringIO(mtprof("diff", runs["base"], runs["slower"], "--csv").stdout)))
    document = json.loads(mtprof("diff", runs["base"], runs["slower"], "--json").stdout)
    assert [row["name"] for row in rows] == [row["name"] for row in document["rows"]]


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
