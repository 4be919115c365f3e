"""Recording: what a profile, a snapshot and a file hand over, and every question to it."""

import json
import re
import subprocess
import sys

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import Recording, load, profile, ranks, record_function, schedule
from profiles import train

STEPS = 6
HOSTILE = "<script>alert('&')</script>\x1b[2J"


def every_step(**options):
    """A profile of some steps."""
    with profile(schedule=schedule(wait=0, warmup=1, active=STEPS, repeat=1), record_shapes=True, profile_memory=True, **options) as prof:
        for _ in range(STEPS + 1):
            train()
            prof.step()
    return prof


@pytest.fixture(scope="module")
def prof():
    return every_step()


@pytest.fixture(scope="module")
def path(prof, tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings") / "train.mtrec"
    prof.export_trace(path)
    return path


@pytest.fixture(params=["of a profile", "of a file", "of a Chrome trace"])
def recording(request, prof, path, tmp_path):
    if request.param == "of a profile":
        return prof.recording()
    if request.param == "of a file":
        return load(path)
    prof.export_chrome_trace(tmp_path / "train.json.gz")
    return load(str(tmp_path / "train.json.gz"))


def test_it_answers_as_its_profile_does(recording, prof):
    assert [event.name for event in recording.events()] == [event.name for event in prof.events()]
    assert {row.key: row.count for row in recording.key_averages()} == {row.key: row.count for row in prof.key_averages()}
    assert recording.events() is recording.events()
    steps = recording.steps()
    assert len(steps) == STEPS and [step.number for step in steps] == list(range(1, STEPS + 1))
    assert all(step.duration_ns > 0 and step.events > 0 for step in steps) and steps[-1].number == STEPS
    assert recording.losses() == [] and len(recording.counters()) > 0
    assert recording.info().events == recording.event_count > 0


def test_events_are_those_of_the_profile(prof):
    recording = prof.recording()
    assert isinstance(recording, Recording)
    assert recording.events() is prof.events()


def test_a_recording_stays_as_it_is_when_the_profile_goes_on():
    with profile() as prof:
        train()
    recording = prof.recording()
    names = [event.name for event in recording.events()]
    prof.add_metadata_json("later", "1")
    prof.start()
    with record_function("later"):
        pass
    prof.stop()
    assert [event.name for event in recording.events()] == names
    assert "later" not in recording.info().metadata
    assert any(event.name == "later" for event in prof.recording().events())
    assert prof.recording().info().metadata.later == 1


def test_a_handler_may_keep_recordings_of_all_cycles():
    kept = []
    with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=lambda prof: kept.append(prof.recording())) as prof:
        for number in range(6):
            with record_function(f"cycle {number}"):
                pass
            prof.step()
    assert [[event.name for event in recording.events() if event.name.startswith("cycle")] for recording in kept] == [
        [f"cycle {number}"] for number in (1, 3, 5)
    ]


def test_a_snapshot_is_a_recording_of_a_profile_that_goes_on():
    with profile() as prof:
        with record_function("before"):
            pass
        recording = prof.snapshot()
        with record_function("after"):
            pass
    assert [event.name for event in recording.events()] == ["before"]
    assert [event.name for event in prof.events()] == ["before", "after"]


def test_a_profile_without_a_trace_says_so():
    with pytest.raises(AssertionError, match="must be initialized before accessing the recording"):
        profile().recording()


def test_where_a_step_goes_adds_up(recording):
    overview = recording.overview()
    assert overview.steps == STEPS and overview.step_ns > 0 and overview.verdict.text
    (main,) = [lane for lane in overview.causes if lane.main]
    assert sum(row.ns_per_step for row in main.causes) == pytest.approx(main.ns_per_step, rel=0.01)
    assert recording.findings() == overview.findings


def test_files_are_written_in_the_format_that_their_suffix_names(recording, tmp_path):
    recording.export(tmp_path / "a.json", fsync=True)
    assert json.loads((tmp_path / "a.json").read_text())["traceEvents"]
    recording.export(str(tmp_path / "a.mtrec"))
    assert len(load(tmp_path / "a.mtrec").events()) == len(recording.events())
    recording.report(tmp_path / "page")
    assert (tmp_path / "page").read_text().startswith("<!doctype html>")
    recording.export_chrome_trace(tmp_path / "b")
    assert json.loads((tmp_path / "b").read_text())["traceEvents"]
    with pytest.raises(ValueError, match=r"\.parquet"):
        recording.export(tmp_path / "a.docx")
    with pytest.raises(FileNotFoundError):
        recording.export(tmp_path / "nowhere" / "a.json")


@pytest.mark.parametrize("table", ["", ".averages", ".counters", ".steps"])
def test_parquet_is_a_format_like_every_other(recording, tmp_path, table):
    parquet = pytest.importorskip("pyarrow.parquet")
    recording.export(tmp_path / f"a{table}.parquet")
    expected = {"": recording, ".averages": recording.key_averages(), ".counters": recording.counters(), ".steps": recording.steps()}[table]
    found = parquet.read_table(tmp_path / f"a{table}.parquet")
    assert found.to_pylist() == pytest.importorskip("pyarrow").table(expected).to_pylist()
    assert found.num_rows > 0 and [path.name for path in tmp_path.glob("*parquet")] == [f"a{table}.parquet"]


def test_without_pyarrow_an_error_says_what_to_install(recording, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RuntimeError, match="pip install pyarrow"):
        recording.export(tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()


def test_two_runs_are_compared(path, prof, tmp_path):
    diff = load(path).diff(prof.recording())
    assert diff.step_time.before_ns == diff.step_time.after_ns > 0
    assert {row.change for row in diff.rows} == {"same"} and "aten::addmm" in {row.name for row in diff.rows}
    assert str(diff).startswith(f"before      {path} ({STEPS} steps)\n")
    by_shape = prof.recording().diff(path, by_shape=True)
    assert any(row.shapes for row in by_shape.rows)
    prof.recording().report(tmp_path / "page.html", baseline=path)
    assert "train.mtrec" in (tmp_path / "page.html").read_text()


def test_limits_are_checked(path, prof):
    check = prof.recording().check(path, {"step_time": "+3%", "calls:aten::addmm": "+0%"})
    assert check.ok and not any(limit.outcome == "exceeded" for limit in check.limits)
    assert "0 of 2 limits exceeded" in str(check)
    with pytest.raises(ValueError, match="step_time"):
        prof.recording().check(path, ["nonsense"])


def test_what_a_change_would_bring_is_answered(path, program):
    recording = load(path)
    same = recording.what_if(scale={"op:*": 1})
    assert same.predicted_ns == same.replayed_ns == same.step_ns > 0 and same.steps == STEPS - 1
    less = recording.what_if(scale={"op:*": 0.5})
    gone = recording.what_if(scale={"op:*": 0.5}, remove=["op:*"])
    assert same.predicted_ns > less.predicted_ns > gone.predicted_ns > 0
    command = [program("mtprof"), "what-if", path, "--scale", "op:*=0.5", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {key: getattr(less, key) for key in ("step_ns", "replayed_ns", "predicted_ns", "steps")}
    with pytest.raises(ValueError, match="'mm' is no selector"):
        recording.what_if(remove=["mm"])
    with pytest.raises(ValueError, match="there are no copies in the steps"):
        recording.what_if(overlap=["copies"])
    with pytest.raises(TypeError):
        recording.what_if(scale={"op:*": "half"})


def test_sql_is_answered_and_reaches_no_files(recording, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    assert recording.query("select count(*) from events").fetchall() == [(len(recording.events()),)]
    assert recording.query("select number from steps order by 1").fetchall() == [(number,) for number in range(1, STEPS + 1)]
    assert recording.query("select count(*) from samples").fetchall() == [(0,)] == [(len(recording.samples()),)]
    assert recording.query("select count(*) from counters").fetchall() == [(len(recording.counters()),)]
    types = dict(recording.query("select column_name, column_type from (describe events)").fetchall())
    assert types["name"] == "VARCHAR" and types["start_ns"] == types["flops"] == "BIGINT" and types["is_async"] == "BOOLEAN"
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(duckdb.Error):
        recording.query(f"select * from '{tmp_path}/a.csv'")


def test_sql_needs_no_pyarrow(path):
    pytest.importorskip("duckdb")
    text = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from mindtorch_v2.profiler import load\n"
        "print(load(sys.argv[1]).query('select count(*) from steps').fetchall()[0][0])\n"
    )
    done = subprocess.run([sys.executable, "-c", text, path], capture_output=True, text=True)
    assert done.stdout == f"{STEPS}\n", done.stderr


def test_what_is_wrong_with_a_file_is_told(path, tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.mtrec")
    (tmp_path / "text.json").write_text("no trace")
    with pytest.raises(ValueError):
        load(tmp_path / "text.json")
    with pytest.raises(RuntimeError, match="memory"):
        load(path, max_memory=1000)
    (tmp_path / "cut.mtrec").write_bytes(path.read_bytes()[:-100])
    assert load(tmp_path / "cut.mtrec").damage and load(path).damage is None


def test_the_ranks_of_a_job_are_compared(tmp_path):
    from job_traces import Job

    job = ranks(Job(ranks=3, slow=1).write(tmp_path))
    assert len(job.ranks) == 3 and job.stragglers[0]["rank"] == 1


def test_answers_have_names():
    from mindtorch_v2.profiler.recording import Answer

    answer = Answer(steps=3)
    assert answer.steps == answer["steps"] == 3
    with pytest.raises(AttributeError, match="has steps, and no 'step'"):
        answer.step  # noqa: B018


def test_the_representation_is_short(path, prof):
    assert re.fullmatch(r"<Recording 'train\.mtrec': \d+ events>", repr(load(path)))
    assert re.fullmatch(r"<Recording: \d+ events>", repr(prof.recording()))


def shown_in_a_notebook(cell):
    """The HTML that a notebook shows for the last expression of a cell, which IPython runs."""
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell.instance()
    try:
        result = shell.run_cell(cell, store_history=False)
        assert result.success, result.error_before_exec or result.error_in_exec
        data, _ = shell.display_formatter.format(result.result)
        return data
    finally:
        interactive.InteractiveShell.clear_instance()


def test_a_notebook_cell_shows_the_overview(path):
    data = shown_in_a_notebook(f"from mindtorch_v2.profiler import load\nload({str(path)!r})")
    page = data["text/html"]
    assert f"<b>train.mtrec</b>: {STEPS} steps, median " in page
    assert " us (" in page or " ms (" in page
    assert "No findings." in page or "per step" in page
    assert len(page) < 10_000  # no wall of text
    assert data["text/plain"].startswith("<Recording 'train.mtrec'")


def test_the_overview_escapes_names_and_tells_losses(tmp_path):
    with profile(record_shapes=True) as prof, record_function(HOSTILE):
        torch.ones((2, 2))
    path = tmp_path / f"{HOSTILE.replace('/', '')}.mtrec"
    prof.export_trace(path)
    page = load(path)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page
    assert "no steps" in page
