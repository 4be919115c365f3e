"""The report as a file: what it holds, what it loads, and how large it is. tests/browser looks at it in a browser.

Tests mindtorch/export/report/report_writer, mindtorch/export/report/report_json and mindtorch/export/report/report_text.
"""

import gzip
import json
import re
import subprocess
from pathlib import Path

import pytest

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<!--"


@pytest.fixture
def mtprof(program):
    def run(*arguments, status=0):
        done = subprocess.run([program("mtprof"), *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


def training(steps=10, ops=20, loader_us=0.0, name="aten::mm"):
    """A Chrome trace of a training loop, as torch.profiler writes it, with device work."""
    events, now, correlation = [], 1000.0, 0
    thread, stream = {"pid": 1, "tid": 1}, {"pid": 0, "tid": 7}
    for step in range(steps):
        begin = now
        if loader_us:
            loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
            events.append({"ph": "X", "cat": "user_annotation", "name": loader, **thread, "ts": now, "dur": loader_us, "args": {}})
            now += loader_us
        for _ in range(ops):
            correlation += 1
            link = {"correlation": correlation}
            events.append({"ph": "X", "cat": "cpu_op", "name": name, **thread, "ts": now, "dur": 40.0, "args": {}})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", **thread, "ts": now + 5, "dur": 5.0, "args": link})
            device = {**link, "device": 0, "stream": 7}
            events.append({"ph": "X", "cat": "kernel", "name": "gemm_bf16", **stream, "ts": now + 12, "dur": 38.0, "args": device})
            now += 41.0
        events.append(
            {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", **thread, "ts": begin, "dur": now - begin, "args": {}}
        )
    return {"traceEvents": events}


def data_of(path):
    """The data of a page."""
    page = path.read_text()
    return json.loads(re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture
def trace(tmp_path):
    def write(**options):
        path = tmp_path / "train.json.gz"
        path.write_bytes(gzip.compress(json.dumps(training(**options)).encode()))
        return path

    return write


def test_a_report_is_written_beside_the_trace(mtprof, trace, tmp_path):
    done = mtprof("report", trace())
    assert done.stdout.startswith("Nothing stands out: ") and "10 steps: mean" in done.stdout
    data = data_of(tmp_path / "train.report.html")
    assert data["steps"]["count"] == 10 and data["hasDevice"]
    (row,) = [row for row in data["ops"]["rows"] if data["names"][row[0]] == "aten::mm"]
    assert row[3] == 200 and row[4] == 200 * 40_000 and row[8] == 200 * 38_000
    assert [data["names"][row[0]] for row in data["kernels"]["rows"]] == ["gemm_bf16"]


def test_the_phases_of_each_step_add_up_to_it(mtprof, trace, tmp_path):
    mtprof("report", trace(loader_us=300.0), "-o", tmp_path / "r.html")
    steps = data_of(tmp_path / "r.html")["steps"]
    for duration, host, device in zip(steps["durations"], steps["host"], steps["device"], strict=True):
        assert sum(host) == duration and sum(device) == duration


def test_findings_are_printed_as_text_or_as_json_and_written_as_json(mtprof, trace, tmp_path):
    path = trace(loader_us=300.0)
    before = set(tmp_path.iterdir())
    printed = mtprof("report", path, "--json").stdout
    assert set(tmp_path.iterdir()) == before, "--json prints, and writes no file"
    assert "The loop waits for data" in mtprof("report", path, "-o", tmp_path / "findings.json").stdout
    assert (tmp_path / "findings.json").read_text() == printed
    assert mtprof("report", path, "--json", "-o", tmp_path / "r.html").stdout == printed and (tmp_path / "r.html").exists()
    (finding,) = json.loads(printed)["findings"]
    # The last kernel of the step before still runs for 9 us.
    assert finding["id"] == "waiting_for_data" and finding["cost_ns"] == 291_000 and finding["evidence"] and finding["remedy"]


def test_the_text_begins_with_the_verdict_and_its_rows_are_whole(mtprof, trace, tmp_path):
    done = mtprof("report", trace(loader_us=300.0), "--text", "-o", tmp_path / "findings.json")
    first = done.stdout.splitlines()[0]
    assert first.startswith("The loop waits for data: 291.000us of ") and not (tmp_path / "train.report.html").exists()
    data = json.loads((tmp_path / "findings.json").read_text())
    assert data["verdict"]["text"] == first and data["verdict"]["level"] in ("warn", "bad")
    assert data["verdict"]["explained_share"] > 0.95
    for lane in data["causes"]:
        assert sum(row["ns_per_step"] for row in lane["causes"]) == pytest.approx(lane["ns_per_step"], rel=1e-3)
    assert [kind["name"] for kind in data["step_kinds"]] == ["usual", "first"]


def recordings():
    tests = Path(__file__).parents[1]
    return [
        *sorted((tests / "fuzz/corpus/mtrec").glob("*.mtrec")),
        *sorted((tests / "export/data").glob("*.json.gz")),
        *sorted((tests / "doubles/cupti/data").glob("*.json")),
    ]


@pytest.mark.parametrize("recording", recordings(), ids=lambda path: path.name)
def test_the_causes_of_every_recording_add_up_to_the_time_of_each_thread(program, recording, tmp_path):
    command = [program("mtprof"), "report", recording, "--text", "-o", tmp_path / "findings.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if not (tmp_path / "findings.json").exists():
        assert done.returncode != 0, "only what is no recording has no report"
        return
    data = json.loads((tmp_path / "findings.json").read_text())
    assert data["verdict"]["text"] == done.stdout.splitlines()[0]
    for lane in data["causes"]:
        parts = sum(row["ns_per_step"] for row in lane["causes"])
        assert parts == pytest.approx(lane["ns_per_step"], rel=1e-3, abs=len(lane["causes"])), lane["lane"]
    assert sum(finding["share"] for finding in data["findings"]) <= 1.001


def test_a_trace_that_torch_recorded_on_a_gpu_has_its_kernels_idle_time_and_findings(mtprof, tmp_path):
    trace = Path(__file__).parent / "data" / "torch_2.11_cuda.json.gz"
    work = [
        event for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"] if event.get("cat") in ("kernel", "gpu_memcpy")
    ]
    findings = json.loads(mtprof("report", trace, "-o", tmp_path / "r.html", "--json").stdout)
    data = data_of(tmp_path / "r.html")
    rows = data["kernels"]["rows"]
    assert sum(row[3] for row in rows) == len(work)
    assert sum(row[9] for row in rows) == pytest.approx(sum(event["dur"] for event in work) * 1000)
    assert data["hasDevice"] and data["steps"]["numbers"] == [2, 3]
    idle = data["phases"]["device"].index("idle")
    for duration, device in zip(data["steps"]["durations"], data["steps"]["device"], strict=True):
        assert sum(device) == duration and 0 < device[idle] < duration
    finding = findings["findings"][0]
    assert finding["id"] == "idle_device" and finding["cost_ns"] > 0
    assert any(link >= 0 for view in data["timelines"] for link in view["links"]), "arrows from launches to kernels"


def test_each_rule_is_described():
    root = Path(__file__).parents[2]
    rules = re.findall(r'^    {"(\w+)", \w+, \w+},', (root / "mindtorch/analyze/report/findings.cpp").read_text(), re.MULTILINE)
    page = (root / "docs/report.md").read_text()
    described = re.findall(r"^\| `(\w+)` \| ", page[page.index("### Findings") : page.index("## Questions in SQL")], re.MULTILINE)
    assert len(rules) > 25 and set(rules) == set(described) and len(described) == len(set(described))


def test_names_cannot_leave_the_data(mtprof, trace, tmp_path):
    mtprof("report", trace(name=HOSTILE), "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert page.count("</script>") == 2 and "<img" not in page
    assert HOSTILE in data_of(tmp_path / "r.html")["names"]


def test_the_page_loads_nothing(mtprof, trace, tmp_path):
    mtprof("report", trace(), "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", page) and "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page


def test_a_trace_of_many_events_makes_a_small_page(mtprof, trace, tmp_path):
    mtprof("report", trace(steps=300, ops=120), "-o", tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 5_000_000


def test_an_empty_trace_has_a_page_too(mtprof, tmp_path):
    (tmp_path / "empty.json").write_text('{"traceEvents": []}')
    mtprof("report", tmp_path / "empty.json", "-o", tmp_path / "r.html")
    assert data_of(tmp_path / "r.html")["ops"]["rows"] == []


def test_the_suffix_chooses_the_format_and_a_bad_path_leaves_nothing(mtprof, trace, tmp_path):
    mtprof("export", trace(), "-o", tmp_path / "a.report.html")
    assert data_of(tmp_path / "a.report.html")["about"]["title"] == "a.report.html"
    mtprof("report", trace(), "-o", tmp_path / "no" / "r.html", status=2)
    mtprof("report", tmp_path / "missing.mtrec", status=1)


def test_a_profile_writes_its_report(tmp_path):
    import mindtorch_v2 as torch
    from mindtorch_v2.profiler import profile

    with profile(profile_memory=True) as prof:
        torch.ones(8).sum()
    for name in ("a.report.html", "b.html"):
        prof.export_report(tmp_path / name)
        data = data_of(tmp_path / name)
        assert "aten::sum" in data["names"] and data["memory"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.report.html", "b.html"]
