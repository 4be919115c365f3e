"""mtprof efficiency, mtprof peaks and mtprof check --min, and the same from Python, on traces whose numbers are known.

Tests mindtorch/export/report/efficiency_json.
"""

import csv
import io
import json
import subprocess

import pytest

H200 = {"id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9, "computeMinor": 0}
SIZE, KERNEL_US, STEP_US = 8192, 1361.9, 2000.0
FLOPS = 2 * SIZE**3


def write_trace(path, device=H200, kernel_us=KERNEL_US, shapes=True):
    """Three steps, each with one product of bfloat16 matrices on a GPU."""
    events = []
    for step in range(3):
        start, id = 10_000.0 * step, step + 1
        arguments = {"Input Dims": [[SIZE, SIZE], [SIZE, SIZE]], "Input type": ["c10::BFloat16", "c10::BFloat16"]} if shapes else {}
        host = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            {**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": start, "dur": STEP_US, "args": {}},
            {**host, "cat": "cpu_op", "name": "aten::mm", "ts": start + 10, "dur": 50, "args": {"External id": id, **arguments}},
            {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 20, "dur": 5, "args": {"correlation": id}},
            {
                "ph": "X", "cat": "kernel", "name": "nvjet_tst_256x128", "pid": 0, "tid": 7, "ts": start + 40, "dur": kernel_us,
                "args": {"correlation": id, "External id": id, "device": 0, "stream": 7},
            },
        ]  # fmt: skip
    path.write_text(json.dumps({"deviceProperties": [device], "traceEvents": events}))
    return path


@pytest.fixture
def trace(tmp_path):
    return write_trace(tmp_path / "run.json")


@pytest.fixture
def mtprof(program, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments, status=0):
        done = subprocess.run([program("mtprof"), *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def test_a_big_product_reaches_the_share_of_its_peak_that_its_kernel_has(mtprof, trace):
    answer = json.loads(mtprof("efficiency", trace, "--json"))
    (row,) = answer["ops"]
    assert (row["name"], row["unit"], row["bound"], row["calls"]) == ("aten::mm", "bfloat16", "compute", 3)
    assert row["flops"] == pytest.approx(3 * FLOPS, rel=1e-5)
    assert row["share_of_limit"] == pytest.approx(0.816, abs=5e-4)
    assert row["tflops"] == pytest.approx(FLOPS / KERNEL_US / 1e6, rel=1e-4)
    assert answer["mfu"] == pytest.approx(FLOPS / 989.4e12 / (STEP_US * 1e-6), rel=1e-4)
    assert [step["mfu"] for step in answer["steps"]] == pytest.approx([answer["mfu"]] * 3, rel=1e-4)
    assert answer["modelled_share"] == 1
    assert answer["kernels"][0]["name"] == "nvjet_tst_256x128"
    assert answer["devices"][0]["tflops"]["bfloat16"] == 989.4


def test_the_tables_are_texts_too(mtprof, trace):
    assert "81.6 %" in mtprof("efficiency", trace)
    assert "nvjet_tst_256x128" in mtprof("efficiency", trace, "--by", "kernels")
    assert "55.6 %" in mtprof("efficiency", trace, "--by", "steps")
    (op, kernel) = csv.DictReader(io.StringIO(mtprof("efficiency", trace, "--csv")))
    assert (op["kind"], op["name"], op["bound"], kernel["kind"]) == ("op", "aten::mm", "compute", "kernel")
    assert float(op["share_of_limit"]) == pytest.approx(0.816, abs=5e-4)


def test_more_than_everything_is_told_as_a_mistake(mtprof, tmp_path):
    trace = write_trace(tmp_path / "fast.json", kernel_us=1000.0)
    (row,) = json.loads(mtprof("efficiency", trace, "--json"))["ops"]
    assert row["share_of_limit"] == pytest.approx(1.111, abs=1e-3)
    assert "more FLOPs than were computed" in row["explanation"]
    assert "above 100 %" in mtprof("efficiency", trace)


def test_peaks_are_given_by_options_and_by_files(mtprof, trace, tmp_path):
    def share(*options):
        return json.loads(mtprof("efficiency", trace, "--json", *options))["ops"][0]["share_of_limit"]

    file = tmp_path / "peaks.json"
    file.write_text(json.dumps({"peaks": [{"device": "NVIDIA H200", "tflops": {"bfloat16": 850}}]}))
    assert share("--peak", "bfloat16=1000") == pytest.approx(FLOPS / 1000e12 / (KERNEL_US * 1e-6), rel=1e-4)
    assert share("--peaks", file) == pytest.approx(FLOPS / 850e12 / (KERNEL_US * 1e-6), rel=1e-4)
    assert "is not a peak such as" in mtprof("efficiency", trace, "--peak", "bf16=1", status=2)
    file.write_text('{"peaks": [{"device": "x", "speed": 1}]}')
    assert "'speed' is not a key" in mtprof("efficiency", trace, "--peaks", file, status=1)


def test_what_is_not_known_is_said(mtprof, tmp_path):
    unknown = write_trace(tmp_path / "unknown.json", device={"id": 0, "name": "A new GPU"})
    assert "the peaks of A new GPU are not known" in mtprof("efficiency", unknown)
    assert json.loads(mtprof("efficiency", unknown, "--json"))["ops"][0]["share_of_limit"] is None
    assert "shapes were not recorded" in mtprof("efficiency", write_trace(tmp_path / "bare.json", shapes=False))


def test_a_check_asks_for_a_least_mfu(mtprof, trace, tmp_path):
    assert "ok        mfu: 55.6%, at least 50% is asked for" in mtprof("check", trace, "--min", "mfu=50%")
    assert "exceeded  mfu: 55.6%, at least 60% is asked for" in mtprof("check", trace, "--min", "mfu=60%", status=1)
    told = json.loads(mtprof("check", trace, trace, "--max", "step_time=+1000%", "--min", "hfu=50%", "--json", status=3))
    assert [limit["metric"] for limit in told["limits"]] == ["step_time", "hfu"]
    assert told["limits"][1]["value"] == pytest.approx(0.5556, abs=1e-3)
    assert "mfu is not known" in mtprof("check", write_trace(tmp_path / "bare.json", shapes=False), "--min", "mfu=1%", status=1)
    assert "--max or --min" in mtprof("check", trace, status=2)
    assert "the metrics are mfu and hfu" in mtprof("check", trace, "--min", "speed=1%", status=1)


def test_reports_tell_it(mtprof, trace, tmp_path):
    told = mtprof("report", trace, "--text", "-o", tmp_path / "report.json")
    assert "Efficiency: 100 % of device time has a cost model" in told and "MFU 55.6 %" in told
    assert json.loads((tmp_path / "report.json").read_text())["efficiency"]["mfu"] == pytest.approx(0.5556, abs=1e-3)


def test_the_cpu_is_measured_when_it_is_asked_for(mtprof, tmp_path):
    told = mtprof("peaks")
    assert "TB/s" in told and str(tmp_path / "cache" / "mindtorch" / "peaks.json") in told
    (cpu,) = json.loads((tmp_path / "cache" / "mindtorch" / "peaks.json").read_text())["peaks"]
    assert cpu["memory_tbytes"] > 0 and cpu["host"] and cpu["device"]


def test_python_answers_the_same(trace, tmp_path, monkeypatch):
    from mindtorch_v2.profiler import load

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    recording = load(trace)
    answer = recording.efficiency()
    assert answer.ops[0].share_of_limit == pytest.approx(0.816, abs=5e-4)
    assert "81.6 %" in str(answer)
    assert recording.efficiency({"bfloat16": 1000, "memory": 4}).devices[0].memory_tbytes == 4
    file = tmp_path / "peaks.json"
    file.write_text(json.dumps({"peaks": [{"device": "NVIDIA H200", "tflops": {"bfloat16": 850}}]}))
    assert recording.efficiency(file).devices[0].tflops.bfloat16 == 850
    with pytest.raises(ValueError, match="is not a peak such as"):
        recording.efficiency({"bf16": 1})


def test_sql_has_a_table_of_it(trace):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    from mindtorch_v2.profiler import load

    rows = load(trace).query("select name, bound, round(share_of_limit, 3) from efficiency where kind = 'op'").fetchall()
    assert rows == [("aten::mm", "compute", 0.816)]
