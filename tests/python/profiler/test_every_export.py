"""Every export of a profile: repeated, to a bad path, to a full disk, with any text, and without overlaps."""

import json
import threading

import mindtorch_v2 as torch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
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


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_can_be_repeated_and_writes_the_same(name, tmp_path):
    prof = recorded()
    written = []
    for _ in range(2):
        EXPORTS[name](prof, tmp_path / name)
        written.append((tmp_path / name).read_bytes())
        (tmp_path / name).unlink()
    assert written[0] == written[1] and len(written[0]) > 0


@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_to_a_bad_path_raises_an_error_with_the_path(name, tmp_path):
    prof = recorded()
    bad = tmp_path / "missing" / name
    with pytest.raises(OSError) as error:
        EXPORTS[name](prof, bad)
    assert error.value.filename == str(bad)
    EXPORTS[name](prof, tmp_path / name)
    assert (tmp_path / name).stat().st_size > 0


FULL_DISK = """
import os, resource, sys
sys.path.insert(0, {tests!r})
from test_every_export import EXPORTS, recorded

prof = recorded()
with open({target!r}, "w") as file:
    file.write("as it was")
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))  # no file may grow beyond this
try:
    EXPORTS[{name!r}](prof, {target!r})
except OSError as error:
    assert error.filename == {target!r}, error
else:
    raise AssertionError("a file of 64 bytes cannot hold this")
"""


@pytest.mark.parametrize("name", EXPORTS)
def test_a_full_disk_leaves_the_file_that_was_there(name, tmp_path, run_program, request):
    target = tmp_path / name
    run_program(FULL_DISK.format(tests=str(request.path.parent), target=str(target), name=name))
    assert target.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [target]


NEARLY_JSON = st.sampled_from(
    ["1", "01", "-", "1e5", "1.", "true", "True", "[1, 2]", "[1, 2", "[1,]", '{"a": null}', "{a: 1}", '"text"', "NaN", "1 2"]
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.tuples(st.text(min_size=1), st.text(), st.text() | NEARLY_JSON), min_size=1, max_size=5))
def test_any_text_in_names_and_metadata_comes_back_from_the_trace(texts, trace_of):
    with profile() as prof:
        for number, (name, plain, json_text) in enumerate(texts):
            prof.add_metadata(f"plain {number}", plain)
            prof.add_metadata_json(f"json {number}", json_text)
            with record_function(name):
                pass
    trace = trace_of(prof)
    written = [event["name"] for event in trace["traceEvents"] if event.get("cat") == "user_annotation"]
    assert sorted(written) == sorted(name for name, _, _ in texts)
    for number, (_, plain, json_text) in enumerate(texts):
        assert trace[f"plain {number}"] == plain
        assert trace[f"json {number}"] == json_value(json_text)


def json_value(text):
    """What a text means as JSON, and the text itself if it means nothing."""

    def refuse(constant):
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:
        return text


def test_events_of_one_track_do_not_overlap_in_part_whatever_threads_and_generators_do(trace_of):
    def items():
        with record_function("generator"):
            for _ in range(3):
                yield torch.ones(2) * 2

    def work():
        iterator = items()
        with record_function("outer"):
            next(iterator)
        next(iterator)  # its scope outlives the one it was opened in
        with record_function("after"):
            iterator.close()

    with profile(with_stack=True) as prof:
        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        work()
    complete = [event for event in trace_of(prof)["traceEvents"] if event["ph"] == "X" and event.get("cat") != "Trace"]
    assert [event["name"] for event in complete].count("generator") == 4
    tracks = {}
    for event in complete:
        start = round(event["ts"] * 1000)
        tracks.setdefault((event["pid"], event["tid"]), []).append((start, -start - round(event["dur"] * 1000)))
    for spans in tracks.values():
        open_ends = []
        for start, minus_end in sorted(spans):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or -minus_end <= open_ends[-1]
            open_ends.append(-minus_end)
