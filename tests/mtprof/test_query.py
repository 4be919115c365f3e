"""mtprof query: SQL about recordings and traces, and the questions of the documentation."""

import csv
import io
import json
import os
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


@pytest.fixture
def hostile(tmp_path):
    """Names that a spreadsheet, a terminal or a table might take for something else."""
    names = ["=x", "+1", "-1", "@a", "", "'quoted", "\x1b[31mred", "long " * 500_000]
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10.0 * i, "dur": 5} for i, name in enumerate(names)]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def test_names_are_in_the_tables_as_they_are(query, hostile):
    def ask(sql):
        return json.loads(query(sql, "--json", file=hostile).stdout)

    rows = ask("select name from events where length(name) < 100 order by start_ns")
    assert [row["name"] for row in rows] == ["=x", "+1", "-1", "@a", "", "'quoted", "\x1b[31mred"]
    assert ask("select count(*) as n from events where name = '=x'") == [{"n": 1}]
    assert ask("select length(name) as n from events order by n desc limit 1") == [{"n": 2_500_000}]
    text = query("select chr(27) || name as t from events where length(name) < 100", file=hostile).stdout
    assert "\x1b" not in text
    (_, cell) = csv.reader(io.StringIO(query("select name from events where name = '=x'", "--csv", file=hostile).stdout))
    assert cell == ["'=x"]  # a spreadsheet would run it


@pytest.mark.parametrize("options", [(), ("--json",), ("--csv",)])
def test_damage_is_told_as_by_other_commands(query, trace, options):
    text = trace.read_text()
    trace.write_text(text[: len(text) // 2])
    done = query("select count(*) > 3 as answer from events", *options, status=1)
    assert "true" in done.stdout.lower()
    assert done.stderr.startswith(f"mtprof: {trace} is damaged: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('{file}')",
        "select * from read_text('{file}')",
        "select * from '{file}'",
        "select * from glob('{folder}/*')",
        "copy events to '{folder}/written.csv'",
        "export database '{folder}/written'",
        "attach '{folder}/written.db'",
        "set enable_external_access = true",
        "install httpfs",
    ],
)
def test_sql_reaches_no_file(query, tmp_path, sql):
    (tmp_path / "secret.csv").write_text("a\n1\n")
    before = sorted(os.listdir(tmp_path))
    error = query(sql.format(file=tmp_path / "secret.csv", folder=tmp_path), status=1).stderr
    assert error.startswith("mtprof: ") and "Traceback" not in error
    assert sorted(os.listdir(tmp_path)) == before
    if "read_csv" in sql:
        assert "--allow-files permits it" in error


def test_files_are_reached_if_that_was_asked_for(query, tmp_path):
    (tmp_path / "other.csv").write_text("a\n7\n")
    answer = query(f"select a from read_csv('{tmp_path / 'other.csv'}')", "--json", "--allow-files").stdout
    assert json.loads(answer) == [{"a": 7}]
    query(f"copy steps to '{tmp_path / 'steps.csv'}'", "--allow-files")
    assert len((tmp_path / "steps.csv").read_text().splitlines()) == 5


@pytest.mark.parametrize("name", ["options", "argv", "tables", "answer", "json", "os"])
def test_sql_sees_no_variable_of_the_program(query, name):
    for options in ((), ("--allow-files",)):
        assert "Traceback" not in query(f"select * from {name}", *options, status=1).stderr


def test_json_has_no_nan_and_every_column(query):
    sql = "select 1 as a, 2 as a, 3 as a_2, 'nan'::double as n, ['inf'::double, 1.5] as l, {'x': '-inf'::double} as s"
    (row,) = json.loads(query(sql, "--json").stdout, parse_constant=pytest.fail)
    assert row == {"a": 1, "a_2": 2, "a_2_2": 3, "n": None, "l": [None, 1.5], "s": {"x": None}}


QUESTION = "select e.name from events e, range(3000)"


@pytest.mark.parametrize("arguments", [("query",), ("query", "--csv"), ("query", "--json"), ("doctor",)])
def test_a_reader_that_leaves_early_sees_no_traceback(trace, query, arguments):
    command, *options = arguments
    question = [trace, QUESTION] if command == "query" else []
    command = [sys.executable, "-m", "mindtorch_v2.profiler", command, *question, *options]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.read(1)
    program.stdout.close()
    assert program.stderr.read() == b""
    program.wait()


@pytest.mark.parametrize("where", ["/dev/full", "closed"])
def test_an_answer_that_cannot_be_written_is_a_failure_in_one_line(trace, query, where):
    command = [sys.executable, "-m", "mindtorch_v2.profiler", "query", str(trace), QUESTION]
    redirected = 'exec "$@" >&-' if where == "closed" else 'exec "$@" > /dev/full'
    done = subprocess.run(["sh", "-c", redirected, "sh", *command], capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch("mtprof: cannot write the result: (No space left on device|Bad file descriptor)\n", done.stderr)


def test_a_terminal_that_knows_only_ascii_gets_an_answer(query, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert "aten::mm" in query("select name || chr(233) from events").stdout


def test_a_mistake_of_ours_is_one_line(query, trace, monkeypatch, capsys):
    from mindtorch_v2.cli import program as commands

    monkeypatch.setitem(commands._IN_PYTHON, "query", "missing_module")
    assert commands.main(["query"]) == 1
    assert re.fullmatch("mtprof: ModuleNotFoundError: .* \\(a mistake of mtprof; PYTHONDEVMODE=1 .*\\)\n", capsys.readouterr().err)


def test_the_questions_of_the_documentation_have_answers(query, project_root):
    questions = re.findall(r"```sql\n(.*?)```", (project_root / "docs" / "report.md").read_text(), re.DOTALL)
    assert len(questions) == 10
    for question in questions:
        json.loads(query(question, "--json").stdout)
    (callers,) = [question for question in questions if "as caller" in question]
    assert {row["caller"]: row["calls"] for row in json.loads(query(callers, "--json").stdout)}["aten::linear"] == 4
