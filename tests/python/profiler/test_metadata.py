"""Metadata that users add to a trace."""

import json
import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mindtorch_v2.profiler import profile, record_function

NEARLY_JSON = st.sampled_from(
    ["1", "01", "-", "1e5", "1.", "true", "True", "[1, 2]", "[1, 2", "[1,]", '{"a": null}', "{a: 1}", '"text"', "NaN", "1 2"]
)


def json_value(text):
    """What a text means as JSON, and the text itself if it means nothing."""

    def refuse(constant):
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:
        return text


def test_preset_metadata_can_be_read():
    prof = profile()
    prof.preset_metadata_json("key", "1")
    assert prof.preset_metadata == {"key": "1"}


# Rule: metadata.types


def test_add_metadata_takes_strings_only():
    with profile() as prof, pytest.raises(AttributeError):
        prof.add_metadata("key", 3)


def test_all_metadata_is_in_the_trace(trace_of):
    prof = profile()
    prof.preset_metadata_json("before start", "[1, 2]")
    with prof:
        prof.add_metadata("text", 'with "quotes" and \\')
        prof.add_metadata_json("json", '{"a": 1}')
        prof.add_metadata_json("broken", "notjson")
        with record_function("scope"):
            pass
    trace = trace_of(prof)
    assert trace["before start"] == [1, 2]
    assert trace["text"] == 'with "quotes" and \\'
    assert trace["json"] == {"a": 1}
    assert trace["broken"] == "notjson"


# Rule: metadata.kept


def test_metadata_is_kept_whenever_it_is_added(op, trace_of):
    prof = profile()
    prof.add_metadata("before", "1")
    with prof:
        prof.add_metadata("during", "2")
        op("aten::mul")
    prof.add_metadata("after", "3")
    trace = trace_of(prof)
    assert (trace["before"], trace["during"], trace["after"]) == ("1", "2", "3")


def test_metadata_may_be_added_while_another_thread_exports(op, tmp_path):
    with profile() as prof:
        for _ in range(20_000):
            op("aten::mul")
    done = threading.Event()
    written = []

    def export():
        while not done.is_set() or len(written) < 2:
            path = tmp_path / f"{len(written)}.json"
            prof.export_chrome_trace(path)
            written.append(path)

    exporting = threading.Thread(target=export)
    exporting.start()
    count = 0
    while len(written) < 3:
        count += 1
        prof.add_metadata(f"key{count % 100}", "value")
        prof.add_metadata_json("count", str(count))
        prof.preset_metadata_json("preset", str(count))
    done.set()
    exporting.join()
    counts = [json.loads(path.read_text()).get("count", 0) for path in written]
    assert counts == sorted(counts) and counts[-1] > 0
    prof.export_chrome_trace(tmp_path / "last.json")
    last = json.loads((tmp_path / "last.json").read_text())
    assert last["count"] == last["preset"] == count and len(last["traceEvents"]) >= 20_000


@pytest.mark.parametrize("text", ["notjson", '{"open": ', "NaN", "", 'quote " and \\ and \n', "\x01"])
def test_text_that_is_not_json_is_stored_as_a_string(text, op, trace_of):
    with profile() as prof:
        prof.add_metadata_json("value", text)
        op("aten::mul")
    assert trace_of(prof)["value"] == text


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
