"""Every export of a profile: repeated, to a bad path, to a full disk; files appear whole or not at all."""

import gzip
import json
import os
import stat

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import profile, record_function


def recorded():
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof, record_function("scope"):
        for _ in range(200):
            torch.ones((2, 2)) * 2
    return prof


EXPORTS = {
    "trace.json": lambda prof, path: prof.export_chrome_trace(path),
    "trace.json.gz": lambda prof, path: prof.export_chrome_trace(path),
    "trace.pftrace": lambda prof, path: prof.export_chrome_trace(path),
    "stacks.txt": lambda prof, path: prof.export_stacks(path),
    "timeline.html": lambda prof, path: prof.export_memory_timeline(path),
    "timeline.raw.json.gz": lambda prof, path: prof.export_memory_timeline(path),
    "events.json": lambda prof, path: prof.events().export_chrome_trace(path),
    "averages.csv": lambda prof, path: prof.key_averages().to_csv(path),
}


FULL_DISK = """
import os, resource, sys, warnings
warnings.simplefilter("error")
sys.path.insert(0, {tests!r})
from test_exports import EXPORTS, recorded

prof = recorded()
with open({target!r}, "w") as file:
    file.write("as it was")
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))  # no file may grow beyond this
try:
    EXPORTS[{name!r}](prof, {target!r})
except (OSError, UserWarning) as error:
    assert {target!r} in str(error), error
else:
    raise AssertionError("a file of 64 bytes cannot hold this")
"""


# Rule: files.repeated


def test_export_can_be_repeated(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    for name in ("first.json", "second.json"):
        prof.export_chrome_trace(tmp_path / name)
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("first.json", "second.json"))
    assert first["traceEvents"] == second["traceEvents"]


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_can_be_repeated_and_writes_the_same(name, tmp_path):
    prof = recorded()
    written = []
    for _ in range(2):
        EXPORTS[name](prof, tmp_path / name)
        written.append((tmp_path / name).read_bytes())
        (tmp_path / name).unlink()
    assert written[0] == written[1] and len(written[0]) > 0


def is_told(name):
    """How an export tells that it has failed: for the file that torch writes without an error, by a warning."""
    return pytest.warns(UserWarning, match="was not written") if name == "trace.json" else pytest.raises(OSError)


def test_a_bad_path_is_told_with_the_path_and_loses_nothing(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    bad = tmp_path / "missing" / "trace.json"
    with pytest.warns(UserWarning, match=f"The trace was not written: cannot write '{bad}': No such file"):
        prof.export_chrome_trace(bad)
    with pytest.raises(FileNotFoundError) as error:
        prof.export_chrome_trace(f"{bad}.gz")
    assert str(bad) in str(error.value) and error.value.filename == f"{bad}.gz"
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert (tmp_path / "trace.json").stat().st_size > 0


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_to_a_bad_path_tells_the_path(name, tmp_path):
    prof = recorded()
    bad = tmp_path / "missing" / name
    with is_told(name) as told:
        EXPORTS[name](prof, bad)
    assert str(bad) in (str(told[0].message) if name == "trace.json" else told.value.filename)
    EXPORTS[name](prof, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0


# Rule: files.whole


def test_gz_and_pftrace_suffixes_choose_the_format(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    for name in ("plain.json", "packed.json.gz", "perfetto.pftrace"):
        prof.export_chrome_trace(tmp_path / name)
    assert json.loads((tmp_path / "plain.json").read_text())["traceEvents"]
    assert json.loads(gzip.decompress((tmp_path / "packed.json.gz").read_bytes()))["traceEvents"]
    assert (tmp_path / "perfetto.pftrace").read_bytes()[:1] == b"\x0a"  # a packet of a Perfetto trace


def test_files_appear_whole_or_not_at_all(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    taken = tmp_path / "trace.json"
    taken.mkdir()  # so that the finished file cannot take its place
    with is_told("trace.json"):
        prof.export_chrome_trace(taken)
    assert list(tmp_path.iterdir()) == [taken]
    prof.export_chrome_trace(taken / "trace.json")
    assert [entry.name for entry in taken.iterdir()] == ["trace.json"]


@pytest.mark.parametrize("name", EXPORTS)
def test_a_full_disk_leaves_the_file_that_was_there(name, tmp_path, run_program, request):
    target = tmp_path / name
    run_program(FULL_DISK.format(tests=str(request.path.parent), target=str(target), name=name))
    assert target.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("name", EXPORTS)
def test_no_export_replaces_a_fifo_or_takes_half_a_path(name, tmp_path):
    prof = recorded()
    os.mkfifo(tmp_path / name)
    with is_told(name) as told:
        EXPORTS[name](prof, tmp_path / name)
    assert "it is a FIFO" in str(told[0].message if name == "trace.json" else told.value)
    assert (tmp_path / name).is_fifo()
    with pytest.raises(ValueError, match="NUL byte|null byte|null character"):
        EXPORTS[name](prof, f"{tmp_path}/half\0{name}")
    assert list(tmp_path.iterdir()) == [tmp_path / name]


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_keeps_a_link_and_the_mode_of_the_file_behind_it(name, tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / name).symlink_to("real")
    EXPORTS[name](recorded(), tmp_path / name)
    assert (tmp_path / name).is_symlink()
    assert (tmp_path / "real").stat().st_size > 3
    assert stat.S_IMODE((tmp_path / "real").stat().st_mode) == 0o640


def test_halves_of_surrogate_pairs_become_replacement_characters_in_names_and_metadata(tmp_path):
    with profile() as prof, record_function("name \ud800"):
        prof.add_metadata("key \udfff", "value \ud800")
        prof.add_metadata_json("json", '["\\ud800"]')
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_bytes().decode("utf-8"))
    mark = "\ufffd" * 3
    assert f"name {mark}" in {event["name"] for event in trace["traceEvents"]}
    assert trace[f"key {mark}"] == f"value {mark}"
    assert trace["json"] == '["\\ud800"]'
