"""_RecordFunctionFast: scopes of generated code."""

import gc
import json

import pytest
from mindtorch_v2.profiler import _RecordFunctionFast, profile


class Tensor:
    def __init__(self, *shape):
        self.shape = shape


def test_it_is_an_op_and_can_be_entered_often(record):
    scope = _RecordFunctionFast("generated")
    with record() as recorded:
        for _ in range(3):
            with scope:
                pass
    assert [(event["name"], event["kind"]) for event in recorded.events] == [("generated", "op")] * 3


def test_a_keyword_makes_it_a_scope_of_the_users(record):
    with record() as recorded, _RecordFunctionFast("annotation", (), {"scope": "user_scope"}):
        pass
    assert recorded.events[0]["kind"] == "scope"


def test_its_inputs_have_shapes(record):
    with record(record_shapes=True) as recorded, _RecordFunctionFast("op", [Tensor(2, 3), 1], {"stream": 0, "big": 1 << 80, "flag": True}):
        pass
    assert recorded.events[0]["input_shapes"] == [[2, 3], []]


def test_keyword_values_are_in_a_trace_also_if_device_work_has_arguments_of_the_name(tmp_path):
    values = {"stream": 3, "device": "npu", "correlation": 7, "grid": "(1, 2)"}
    with profile(record_shapes=True) as prof, _RecordFunctionFast("op", [Tensor(2, 3)], values):
        pass
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    op = next(event["args"] for event in json.loads(path.read_text())["traceEvents"] if event["name"] == "op")
    assert {key: op.get(key) for key in values} == values


def test_an_exception_closes_it(record):
    scope = _RecordFunctionFast("raises")
    with record() as recorded:
        with pytest.raises(KeyError), scope:
            raise KeyError
        with scope:
            pass
    first, second = recorded.events
    assert first["end_ns"] <= second["start_ns"]


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError):
        _RecordFunctionFast(1)
    with pytest.raises(TypeError, match="keyword_values must be a dict"):
        _RecordFunctionFast("x", (), [])
    with pytest.raises(TypeError):
        _RecordFunctionFast("x", 3)


def test_it_is_collected_with_what_it_holds():
    alive = [True]

    class Watched:
        def __del__(self):
            alive.clear()

    watched = Watched()
    watched.scope = _RecordFunctionFast("x", [watched])
    del watched
    gc.collect()
    assert not alive


def kept(values):
    """The keyword values that an event has."""
    with profile(record_shapes=True) as prof, _RecordFunctionFast("op", (), values):
        pass
    (event,) = [event for event in prof.events() if event.name == "op"]
    return event.kwinputs


def test_an_annotation_has_its_keyword_values():
    assert kept({"scope": "user_scope", "k": 1}) == {"scope": "user_scope", "k": 1}


def test_values_of_each_kind_are_kept_and_others_are_torchs_word_for_them():
    values = {"none": None, "ints": [1, 2], "reals": [1.5], "flags": [True, False], "texts": ["a", 'b"'], "empty": [], "nested": [[1], []]}
    assert kept(values) == values
    assert kept({"pair": (1, 2)}) == {"pair": [1, 2]}
    endless = []
    endless.append(endless)
    others = {"object": object(), "dict": {}, "big": 1 << 80, "endless": endless}
    assert kept(others) == dict.fromkeys(others, "NULL")


def test_without_inputs_a_trace_has_no_empty_lists_of_them(tmp_path):
    with profile(record_shapes=True) as prof, _RecordFunctionFast("op", (), {"k": 1}), _RecordFunctionFast("op"):
        pass
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    for event in json.loads(path.read_text())["traceEvents"]:
        if event["name"] == "op":
            assert not {"Concrete Inputs", "Input Dims", "Input Strides", "Input type"} & event["args"].keys()
