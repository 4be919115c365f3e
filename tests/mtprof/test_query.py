"""mtprof query: SQL about recordings and traces, and the questions of the documentation."""

import csv
import io
import json
import re
import subprocess
import sys

import pytest

pytest.importorskip("duckdb", reason="DuckDB is not installed")


@pytest.fixture
def trace(tmp_path):
    """Four steps of two products of matrices, the second one inside of a linear layer."""
    events, now = [], 1000.0
    for step in range(4):
        begin = now
        for name, start, duration in (("aten::mm", now, 10.0), ("aten::linear", now + 20, 30.0), ("aten::mm", now + 25, 20.0 + step)):
            events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": {}})
        now += 60
        annotation = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "args": {}}
        events.append({**annotation, "ts": begin, "dur": now - begin})
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


@pytest.fixture
def query(trace, program, monkeypatch):
    monkeypatch.setenv("MINDTORCH_MTPROF", str(program("mtprof")))
    monkeypatch.setenv("MINDTORCH_PYTHON", sys.executable)

    def ask(sql, *options, status=0, file=trace, command=(sys.executable, "-m", "mindtorch_v2.profiler")):
        done = subprocess.run([*command, "query", str(file), sql, *options], capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done

    return ask


def test_events_and_steps_can_be_asked(query):
    sql = "select name, count(*) as calls, sum(self_cpu_time_ns) as ns from events where kind = 'op' group by name order by name"
    assert json.loads(query(sql, "--json").stdout) == [
        {"name": "aten::linear", "calls": 4, "ns": 4 * 30_000 - 86_000},
        {"name": "aten::mm", "calls": 8, "ns": 40_000 + 86_000},
    ]
    rows = list(csv.reader(io.StringIO(query("select number, duration_ns from steps order by number", "--csv").stdout)))
    assert rows == [["number", "duration_ns"], *[[str(number), "60000"] for number in range(4)]]
    assert "aten::mm" in query("select name from events").stdout


def test_the_native_program_answers_too(query, program):
    assert "8" in query("select count(*) from events where name = 'aten::mm'", command=(program("mtprof"),)).stdout


def test_mistakes_are_explained(query, tmp_path):
    assert "nonsense" in query("select nonsense from events", status=1).stderr
    assert "missing.mtrec" in query("select 1", status=1, file=tmp_path / "missing.mtrec").stderr


def test_the_questions_of_the_documentation_have_answers(query, project_root):
    questions = re.findall(r"```sql\n(.*?)```", (project_root / "docs" / "report.md").read_text(), re.DOTALL)
    assert len(questions) == 10
    for question in questions:
        json.loads(query(question, "--json").stdout)
    (callers,) = [question for question in questions if "as caller" in question]
    assert {row["caller"]: row["calls"] for row in json.loads(query(callers, "--json").stdout)}["aten::linear"] == 4
