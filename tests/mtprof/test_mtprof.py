"""mtprof from the outside: what it prints, and its exit status."""

import csv
import gzip
import io
import json
import os
import pty
import re
import shutil
import subprocess
from collections import Counter

import pytest

KIND_OF_CATEGORY = {
    "user_annotation": {"scope", "step"},
    "cpu_op": {"op", "backward"},
    "python_function": {"python_function", "module"},
    "cuda_runtime": {"runtime"},
    "kernel": {"kernel", "collective"},
    "gpu_memcpy": {"memcpy"},
    "gpu_user_annotation": {"device_scope"},
}


@pytest.fixture(scope="session")
def samples(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    subprocess.run([program("make_traces"), folder], check=True)
    return folder


@pytest.fixture
def mtprof(program):
    def run(*arguments, status=0):
        result = subprocess.run([program("mtprof"), *map(str, arguments)], capture_output=True, text=True, check=False)
        assert result.returncode == status, result.stdout + result.stderr
        return result

    return run


@pytest.fixture
def torch_trace(project_root):
    return lambda name: project_root / "tests" / "export" / "data" / f"torch_2.11_{name}.json.gz"


@pytest.mark.parametrize("name", ["cpu", "cuda"])
def test_counts_of_a_torch_trace_are_those_of_pythons_json(mtprof, torch_trace, name):
    events = json.loads(gzip.decompress(torch_trace(name).read_bytes()))["traceEvents"]
    info = json.loads(mtprof("info", torch_trace(name), "--json").stdout)
    counts = Counter(e["cat"] for e in events if e["ph"] == "X" and e["cat"] != "Trace")
    assert info["events"] == counts.total()
    for category, count in counts.items():
        assert sum(info["kinds"].get(kind, 0) for kind in KIND_OF_CATEGORY[category]) == count
    assert info["memory_reports"] == sum(e["name"] == "[memory]" for e in events)
    assert info["skipped"]["flow"] == sum(e["ph"] in "sf" for e in events)
    assert [step["number"] for step in info["steps"]] == [2, 3]
    rows = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X" and e["cat"] != "Trace"}
    assert len(info["tracks"]) == len(rows)


def test_the_table_of_a_torch_trace_has_torchs_numbers(mtprof, torch_trace):
    text = mtprof("table", torch_trace("cpu"), "--sort-by", "cpu_time_total", "--limit", "5").stdout
    assert "Self CPU time total: 46.047ms" in text
    rows = [line.split() for line in text.splitlines() if line.strip().startswith(("ProfilerStep*", "outer"))]
    assert [row[0] for row in rows] == ["ProfilerStep*", "outer"]


def test_table_as_json_and_csv(mtprof, samples):
    rows = json.loads(mtprof("table", samples / "cpu.mtrec", "--json").stdout)["rows"]
    linear = next(row for row in rows if row["key"] == "aten::linear")
    assert linear["count"] == 2
    table = list(csv.DictReader(io.StringIO(mtprof("table", samples / "cpu.mtrec", "--csv").stdout)))
    assert {row["key"] for row in table} == {row["key"] for row in rows}


def test_a_chrome_trace_and_the_recording_it_was_made_from_give_the_same_table(mtprof, samples):
    for name in ["cpu", "full", "npu", "cuda"]:
        tables = [mtprof("table", samples / f"{name}{suffix}").stdout for suffix in (".mtrec", ".json", ".json.gz")]
        assert tables[0] == tables[1] == tables[2]


def test_export_writes_every_format_it_names(mtprof, samples, tmp_path):
    listed = mtprof("export", "--help").stdout.split("Formats, by suffix:")[1]
    suffixes = [line.split()[0] for line in listed.splitlines() if line.strip()]
    assert {".json", ".pftrace", ".speedscope.json", ".svg", ".averages.csv", ".events.json", ".mtrec"} <= set(suffixes)
    outputs = [argument for suffix in suffixes for argument in ("-o", tmp_path / f"out{suffix}")]
    report = json.loads(mtprof("export", samples / "full.mtrec", *outputs, "--memory-timeline", tmp_path / "memory.html", "--json").stdout)
    assert len(report["files"]) == len(suffixes) + 1
    for file in report["files"]:
        assert os.path.getsize(file["path"]) == file["bytes"] > 0
    assert (tmp_path / "out.pftrace").read_bytes() == (samples / "full.pftrace").read_bytes()


def test_memory_timeline_files_have_torchs_form(mtprof, samples, tmp_path):
    mtprof("export", samples / "full.mtrec", "--memory-timeline", tmp_path / "m.json")
    times, sizes = json.loads((tmp_path / "m.json").read_text())
    assert len(times) == len(sizes) and all(len(row) == 9 and row[0] == 0 for row in sizes)
    assert times == sorted(times)
    mtprof("export", samples / "full.mtrec", "--memory-timeline", tmp_path / "m.raw.json.gz", "--device", "cpu")
    changes = json.loads(gzip.decompress((tmp_path / "m.raw.json.gz").read_bytes()))
    assert all(len(change) == 4 and change[1] in (1, 2, 3, 4) and 0 <= change[3] < 8 for change in changes)
    assert sum(change[2] for change in changes) == sum(sizes[-1])


def test_info_tells_what_devices_and_memory_did(mtprof, samples):
    info = json.loads(mtprof("info", samples / "npu.mtrec", "--json").stdout)
    (device,) = info["devices"]
    assert device["device"] == "NPU:0"
    assert device["span_ns"] == device["compute_ns"] + device["non_compute_ns"] + device["idle_ns"] > device["compute_ns"] > 0
    assert "% computing" in mtprof("info", samples / "npu.mtrec").stdout
    (memory,) = json.loads(mtprof("info", samples / "full.mtrec", "--json").stdout)["memory"]
    assert memory == {"device": "CPU", "peak_bytes": 6120, "category_peaks": {"PARAMETER": 4096, "ACTIVATION": 1024, "UNKNOWN": 1000}}
    assert "peak 6120 bytes, PARAMETER 4096" in mtprof("info", samples / "full.mtrec").stdout


def test_validate_accepts_our_traces_and_names_torchs_faults(mtprof, samples, torch_trace):
    for name in ["cpu.json", "full.json.gz", "npu.mtrec", "cuda.json", "hostile.json"]:
        assert "WRONG" not in mtprof("validate", samples / name).stdout
    report = json.loads(mtprof("validate", torch_trace("cuda"), "--json", status=1).stdout)
    faults = {check["name"]: check["findings"] for check in report["checks"] if check["findings"]}
    assert report["ok"] is False and set(faults) == {"nesting", "flows"}


def test_a_damaged_trace_is_read_as_far_as_it_goes_and_reported(mtprof, samples, tmp_path):
    text = (samples / "full.json").read_text()
    (tmp_path / "cut.json").write_text(text[: len(text) * 2 // 3])
    result = mtprof("info", tmp_path / "cut.json", "--json", status=1)
    assert "damaged" in result.stderr
    assert json.loads(result.stdout)["events"] > 10


@pytest.mark.parametrize(
    "arguments",
    [(), ("nonsense",), ("table",), ("table", "x", "--limit", "many"), ("export", "x"), ("table", "x", "--json", "--csv")],
)
def test_wrong_usage_is_status_2(mtprof, arguments):
    assert mtprof(*arguments, status=2).stderr


def test_what_if_answers_as_text_and_as_json(mtprof, torch_trace):
    for name in ("cuda", "cuda_ops", "cpu"):
        document = json.loads(mtprof("what-if", torch_trace(name), "--scale", "op:aten::mm=0.5", "--json").stdout)
        assert (
            document["replayed_ns"] == pytest.approx(document["step_ns"], rel=0.03) and document["predicted_ns"] < document["replayed_ns"]
        )
    text = mtprof("what-if", torch_trace("cuda"), "--remove", "op:aten::*", "--remove", "copies").stdout
    assert re.search(r"^step 4\.375ms -> \S+ \(-\d+\.\d %\)\nrecorded: 4\.375ms per step, on average of 2;", text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say what changes with --scale, --remove or --overlap"),
        (("--scale", "op:aten::mm"), "'op:aten::mm' is no selector with a factor"),
        (("--scale", "op:aten::mm=fast"), "'fast' in 'op:aten::mm=fast' is no number"),
        (("--scale", "op:aten::mm=-1"), "the factor -1 of 'op:aten::mm' is not from 0"),
        (("--remove", "aten::mm"), "'aten::mm' is no selector; selectors are op:NAME"),
        (("--remove", "op:aten::nn"), "'op:aten::nn' matches nothing in the steps of this recording; there are, most time first: "),
        (("--overlap", "kernels"), "'kernels' cannot be overlapped; what can is collectives, copies, loading"),
        (("--overlap", "collectives"), "there are no collectives"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(mtprof, torch_trace, arguments, message):
    assert message in mtprof("what-if", torch_trace("cuda"), *arguments, status=2).stderr


def test_a_recording_that_cannot_predict_says_why(mtprof, samples):
    assert "steps cannot be predicted: " in mtprof("what-if", samples / "hostile.mtrec", "--remove", "op:*", status=1).stderr


def test_help_is_status_0(mtprof):
    assert "validate" in mtprof("--help").stdout
    assert ".pftrace" in mtprof("export", "--help").stdout


def test_failures_are_status_1_and_name_the_file(mtprof, samples, tmp_path):
    assert "missing.json" in mtprof("info", tmp_path / "missing.json", status=1).stderr
    (tmp_path / "text.json").write_text("hello")
    assert "not a Chrome trace" in mtprof("info", tmp_path / "text.json", status=1).stderr
    assert "no format" in mtprof("export", samples / "cpu.json", "-o", tmp_path / "x.docx", status=1).stderr
    assert "'FunctionEventAvg' object has no attribute 'zz'" in mtprof("table", samples / "cpu.json", "--sort-by", "zz", status=1).stderr
    assert (
        "'gpu' is not a device"
        in mtprof("export", samples / "full.mtrec", "--memory-timeline", tmp_path / "m.json", "--device", "gpu", status=1).stderr
    )
    assert "missing/x.json" in mtprof("export", samples / "cpu.json", "-o", tmp_path / "missing" / "x.json", status=2).stderr


def test_a_result_that_cannot_be_written_is_a_failure(program, samples):
    with open("/dev/full", "w") as full:
        result = subprocess.run([program("mtprof"), "info", samples / "cpu.json"], stdout=full, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 1
    assert b"No space left on device" in result.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("arguments", "statuses"),
    [
        (["info", "cpu.json"], (0, 1)),  # the second if the result cannot be written
        (["info", "missing.json"], (1, 1)),
        (["table", "damaged.json"], (1, 1)),
        (["export", "cpu.json", "-o", "written.json"], (0, 1)),
        (["--help"], (0, 1)),
        (["nonsense"], (2, 2)),
        (["info", "--nonsense"], (2, 2)),
        (["run", "--", "/bin/true"], (1, 1)),
    ],
)
def test_closed_streams_end_no_command_by_a_signal(program, samples, tmp_path, arguments, statuses, closed):
    whole = (samples / "cpu.json").read_bytes()
    (tmp_path / "cpu.json").write_bytes(whole)
    (tmp_path / "damaged.json").write_bytes(whole[: len(whole) // 2])
    command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", program("mtprof"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, env={"PATH": "/nonexistent"}, capture_output=True)
    assert done.returncode == statuses[closed != "2>&-"]
    if "export" in arguments:
        assert b"bytes, " not in (tmp_path / "written.json").read_bytes()
        json.loads((tmp_path / "written.json").read_text())


def test_nothing_but_the_result_goes_to_a_pipe_and_a_terminal_stays_clean(program, samples):
    assert subprocess.run([program("mtprof"), "info", samples / "cpu.json"], capture_output=True, check=True).stderr == b""
    leader, follower = pty.openpty()
    subprocess.run([program("mtprof"), "info", samples / "cpu.json"], stdout=subprocess.DEVNULL, stderr=follower, check=True)
    os.close(follower)
    os.set_blocking(leader, False)
    try:
        shown = os.read(leader, 1000)
    except OSError:
        shown = b""
    os.close(leader)
    assert shown == b"", "work this short shows no progress"


def test_json_is_a_flag_that_prints_in_every_command(program):
    commands = re.findall(
        r"^  ([a-z]+) ", subprocess.run([program("mtprof"), "--help"], capture_output=True, text=True).stdout, re.MULTILINE
    )
    texts = {name: subprocess.run([program("mtprof"), name, "--help"], capture_output=True, text=True).stdout for name in commands}
    with_json = {name: line for name, text in texts.items() for line in text.splitlines() if line.strip().startswith("--json")}
    assert {"check", "diff", "export", "info", "query", "ranks", "report", "table", "validate"} <= with_json.keys()
    for name, line in with_json.items():
        takes_a_value = re.match(r" *--json[ =][A-Z]+\b", line)  # "--json TEXT ..."
        assert not takes_a_value, f"mtprof {name}: {line}"


CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(
    "command",
    [
        ["table", "--limit", "-1"],
        ["table", "--limit", "-1", "--by-stack", "5"],
        ["table", "--json"],
        ["info"],
        ["info", "--json"],
        ["validate"],
    ],
)
@pytest.mark.parametrize("suffix", [".mtrec", ".json"])
def test_no_control_character_of_a_name_reaches_the_terminal(program, samples, command, suffix):
    result = subprocess.run([program("mtprof"), *command, samples / f"hostile{suffix}"], capture_output=True, check=False)
    assert not CONTROLS.search(result.stdout.decode("utf-8"))
    assert not CONTROLS.search(result.stderr.decode("utf-8"))
    if command[0] == "table" and "--json" not in command:
        assert "\ufffd]0;title\ufffd" in result.stdout.decode("utf-8")


def test_no_control_character_of_a_path_reaches_the_terminal(program, samples, tmp_path):
    path = tmp_path / "red \x1b[31m.json"
    shutil.copy(samples / "cpu.json", path)
    for arguments in (["info", path], ["table", tmp_path / "\x1b[31m missing"], ["export", path, "-o", tmp_path / "\x1b.json"]):
        result = subprocess.run([program("mtprof"), *arguments], capture_output=True, check=False)
        assert not CONTROLS.search((result.stdout + result.stderr).decode("utf-8"))


def test_a_device_is_written_into(mtprof, samples, tmp_path):
    (tmp_path / "null.json").symlink_to("/dev/null")
    assert f"{tmp_path / 'null.json'} (0 bytes" in mtprof("export", samples / "cpu.mtrec", "-o", tmp_path / "null.json", "--fsync").stdout
    assert (tmp_path / "null.json").is_char_device()


def test_a_fifo_is_refused(mtprof, samples, tmp_path):
    os.mkfifo(tmp_path / "fifo.json")
    assert "it is a FIFO" in mtprof("export", samples / "cpu.mtrec", "-o", tmp_path / "fifo.json", status=1).stderr
    assert (tmp_path / "fifo.json").is_fifo()
