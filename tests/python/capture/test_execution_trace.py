"""ExecutionTraceObserver: alone, given to a profile, and beside torch's."""

import copy
import gc
import gzip
import inspect
import json
import subprocess
import sys

import pytest
from mindtorch_v2.profiler import ExecutionTraceObserver, dispatch_op_enter, dispatch_op_exit, profile, record_function


class Tensor:
    def __init__(self, *shape):
        self.shape, self.dtype = shape, "float32"


def op(name, *args):
    dispatch_op_exit(dispatch_op_enter(name, "cpu", args, None))


def nodes(path):
    return {node["name"]: node for node in json.loads(path.read_bytes())["nodes"]}


def attributes(node):
    return {attribute["name"]: attribute["value"] for attribute in node["attrs"]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "et.json"


def test_alone_it_writes_what_happened_between_start_and_stop(path):
    observer = ExecutionTraceObserver().register_callback(str(path))
    assert observer.is_registered and not observer.is_running()
    op("before")
    observer.start()
    assert observer.is_running()
    with record_function("outer", "some args"):
        op("aten::mul", Tensor(2, 3), 1.5)
    observer.stop()
    op("after")
    observer.unregister_callback()
    assert not observer.is_registered
    found = nodes(path)
    assert {"before", "after"}.isdisjoint(found)
    assert found["aten::mul"]["ctrl_deps"] == found["outer"]["id"]
    assert found["aten::mul"]["inputs"]["shapes"] == [[2, 3], []]
    assert found["aten::mul"]["inputs"]["types"] == ["Tensor(float)", "Double"]
    assert found["outer"]["inputs"]["values"] == ["some args"]
    assert attributes(found["outer"])["scope"] == 7 and attributes(found["aten::mul"])["scope"] == 0


def test_a_profile_starts_stops_and_closes_it(path):
    observer = ExecutionTraceObserver().register_callback(str(path))
    with profile(record_shapes=True, execution_trace_observer=observer) as prof:
        assert observer.is_running()
        op("aten::mul", Tensor(4))
    assert not observer.is_registered
    assert nodes(path)["aten::mul"]["inputs"]["shapes"] == [[4]]
    assert [event["name"] for event in prof.events()] == ["aten::mul"]


def test_the_path_is_remembered_and_gz_is_compressed(tmp_path):
    observer = ExecutionTraceObserver()
    assert observer.get_output_file_path() is None
    path = tmp_path / "et.json.gz"
    observer.register_callback(str(path))
    observer.register_callback(str(tmp_path / "ignored.json"))
    assert observer.get_output_file_path() == str(path)
    observer.start()
    op("x")
    observer.cleanup()
    assert any(node["name"] == "x" for node in json.loads(gzip.decompress(path.read_bytes()))["nodes"])


def test_dropping_an_observer_finishes_its_file(path):
    observer = ExecutionTraceObserver().register_callback(str(path))
    observer.start()
    op("last words")
    del observer
    assert "last words" in nodes(path)


def test_the_environment_can_ask_for_one(monkeypatch):
    monkeypatch.delenv("ENABLE_PYTORCH_EXECUTION_TRACE", raising=False)
    assert ExecutionTraceObserver.build_execution_trace_obs_from_env() is None
    monkeypatch.setenv("ENABLE_PYTORCH_EXECUTION_TRACE", "1")
    observer = ExecutionTraceObserver.build_execution_trace_obs_from_env()
    assert observer.is_registered and observer.get_output_file_path().endswith(".et.json")
    observer.unregister_callback()


def test_extra_resources_have_a_folder_beside_the_file(path):
    observer = ExecutionTraceObserver().register_callback(str(path))
    assert observer.get_resources_dir() is None
    observer.set_extra_resource_collection(True)
    assert observer.get_resources_dir() == str(path.parent / "et_resources")
    assert (path.parent / "et_resources").is_dir()
    observer.unregister_callback()


@pytest.mark.torch
def test_it_has_torchs_methods_and_signatures():
    theirs = pytest.importorskip("torch").profiler.ExecutionTraceObserver
    for name, member in vars(theirs).items():
        if name.startswith("_") or name in ("start", "stop", "cleanup"):
            continue
        assert hasattr(ExecutionTraceObserver, name), name
        if inspect.isfunction(member):
            mine = inspect.signature(getattr(ExecutionTraceObserver, name))
            assert list(mine.parameters) == list(inspect.signature(member).parameters), name


# In a process of its own, because torch's observer does not work any more in one where it could once not open its file.
OF_TORCH = """
import sys, torch
observer = torch.profiler.ExecutionTraceObserver().register_callback(sys.argv[1])
x = torch.ones(2, 3)
observer.start()
with torch.profiler.record_function("outer", "some args"):
    torch.cat([x, x], 1)
observer.stop()
observer.unregister_callback()
"""


@pytest.mark.torch
def test_the_file_has_the_form_of_torchs_for_the_same_program(tmp_path):
    pytest.importorskip("torch")
    subprocess.run([sys.executable, "-c", OF_TORCH, str(tmp_path / "torch.json")], check=True)
    ours = ExecutionTraceObserver().register_callback(str(tmp_path / "ours.json"))
    ours.start()
    with record_function("outer", "some args"):
        op("aten::cat", [Tensor(2, 3), Tensor(2, 3)], 1)
    ours.unregister_callback()
    expected, found = nodes(tmp_path / "torch.json"), nodes(tmp_path / "ours.json")
    assert set(found) == set(expected)
    for name, node in found.items():
        like = expected[name]
        assert list(node) == list(like)
        assert [(each["name"], each["type"]) for each in node["attrs"]] == [(each["name"], each["type"]) for each in like["attrs"]]
        for key in ("shapes", "types", "strides"):
            assert node["inputs"][key] == like["inputs"][key], (name, key)
        assert attributes(node)["scope"] == attributes(like)["scope"]
    top_level = [list(json.loads((tmp_path / file).read_bytes())) for file in ("torch.json", "ours.json")]
    assert top_level[0] == top_level[1]


@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy])
def test_the_end_of_a_copy_is_silent_and_does_not_end_the_trace(path, copy_of, capfd):
    observer = ExecutionTraceObserver().register_callback(str(path))
    copied = copy_of(observer)
    assert copied.get_output_file_path() == str(path)
    assert not copied.is_registered
    del copied
    ExecutionTraceObserver.__new__(ExecutionTraceObserver)  # what a copy that fails leaves behind
    gc.collect()
    assert observer.is_registered
    assert capfd.readouterr().err == ""
