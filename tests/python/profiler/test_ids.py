"""Ids of events: they go on counting over the profiles of a process, and files have the same ones."""

import json
import subprocess

import pytest
from mindtorch_v2.profiler import ExecutionTraceObserver, profile, record_function, schedule


def scopes(count=3, **options):
    with profile(**options) as prof:
        for number in range(count):
            with record_function(f"scope {number}"):
                pass
    return prof


def ids(prof):
    return [event.id for event in prof.events()]


def trace_events(prof, path, category="user_annotation"):
    prof.export_chrome_trace(path)
    return [event for event in json.loads(path.read_text())["traceEvents"] if event.get("cat") == category]


def test_ids_do_not_repeat_between_profiles():
    seen = [event_id for _ in range(3) for event_id in ids(scopes())]
    assert len(set(seen)) == 9 and seen == sorted(seen)


def test_a_trace_has_the_ids_of_its_events_and_counts_them_from_zero(tmp_path):
    scopes()
    prof = scopes()
    written = [event["args"] for event in trace_events(prof, tmp_path / "trace.json")]
    assert [arguments["External id"] for arguments in written] == ids(prof)
    assert [arguments["Record function id"] for arguments in written] == ids(prof)
    assert [arguments["Ev Idx"] for arguments in written] == [0, 1, 2]


def test_a_recording_that_is_read_again_has_the_same_ids(tmp_path, program):
    prof = scopes()
    prof.export_trace(tmp_path / "scopes.mtrec")
    subprocess.run([program("mtprof"), "export", tmp_path / "scopes.mtrec", "-o", tmp_path / "again.json"], check=True)
    again = [event for event in json.loads((tmp_path / "again.json").read_text())["traceEvents"] if event.get("cat") == "user_annotation"]
    assert [event["args"]["External id"] for event in again] == ids(prof)


def test_ids_of_accumulated_cycles_do_not_repeat():
    with profile(schedule=schedule(wait=0, warmup=0, active=1, repeat=2), acc_events=True) as prof:
        for number in range(2):
            with record_function(f"scope {number}"):
                pass
            prof.step()
    assert len(set(ids(prof))) == len(ids(prof)) == 4
    assert not set(ids(scopes())) & set(ids(prof))


def test_an_execution_trace_has_the_ids_of_the_chrome_trace(tmp_path):
    observer = ExecutionTraceObserver().register_callback(str(tmp_path / "et.json"))
    prof = scopes(execution_trace_observer=observer)
    nodes = json.loads((tmp_path / "et.json").read_text())["nodes"]
    functions = {node["name"]: {each["name"]: each["value"] for each in node["attrs"]}["rf_id"] for node in nodes}
    written = {event["name"]: event["args"]["Record function id"] for event in trace_events(prof, tmp_path / "trace.json")}
    assert written == {name: function for name, function in functions.items() if name.startswith("scope")}


@pytest.mark.filterwarnings("ignore:`metadata_json` is deprecated")
def test_the_metadata_of_an_event_has_its_id_and_its_place():
    prof = scopes()
    raw = [event.metadata_json() for event in prof.profiler.kineto_results.events()]
    for texts in ([event.metadata_json for event in prof.events()], raw):
        values = [json.loads("{" + text + "}") for text in texts]
        assert [value["External id"] for value in values] == ids(prof)
        assert [value["Ev Idx"] for value in values] == [0, 1, 2]
