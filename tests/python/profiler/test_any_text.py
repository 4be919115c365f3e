"""Texts that no UTF-8 has, which Python makes of names and arguments that are not UTF-8, in every place that takes a text or a path."""

import json
import os

import pytest
from mindtorch_v2 import device, npu, zeros
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function, tensorboard_trace_handler

# Rule: input.any

HALVES = ["\udcff", "\ud800", "x\udfff"]


@pytest.fixture
def prof():
    with profile(activities=["cpu"]) as prof, record_function("scope"):
        pass
    return prof


@pytest.fixture
def folder(tmp_path):
    """A folder whose name is not UTF-8."""
    path = os.fsdecode(os.fsencode(tmp_path) + b"/folder \xff")
    os.mkdir(path)
    return path


@pytest.mark.parametrize("text", HALVES)
@pytest.mark.parametrize(
    "call, error",
    [
        (lambda text: profile(activities=[text]), ValueError),
        (lambda text: profile(activities=text[-1]), ValueError),
        (lambda text: profile(activities=[{text: ["CPU_OP"]}]), ValueError),
        (lambda text: zeros(2, **{text: 1}), TypeError),
        (lambda text: zeros(2).to(**{text: 1}), TypeError),
        (lambda text: zeros(2).to(text), RuntimeError),
        (lambda text: device(text), RuntimeError),
        (lambda text: npu.current_stream(text), RuntimeError),
    ],
)
def test_a_wrong_text_is_refused_by_a_message(call, error, text):
    with pytest.raises(error, match="\ufffd"):
        call(text)


@pytest.mark.parametrize("text", HALVES)
def test_a_running_profile_refuses_an_activity_and_goes_on(text):
    with profile(activities=["cpu"]) as prof:
        with pytest.raises(ValueError, match="unsupported profiler activity: x?\ufffd"):
            prof.toggle_collection_dynamic(False, [text])
        with record_function("scope"):
            pass
    assert [event.name for event in prof.events()] == ["scope"]


@pytest.mark.parametrize("text", HALVES)
def test_attributes_may_have_any_name(prof, text):
    for item in (prof.events()[0], prof.key_averages()[0]):
        setattr(item, text, 3)
        assert getattr(item, text) == 3 and item.__dict__[text] == 3
    with pytest.raises(KeyError, match="\ufffd"):
        prof.events()[0][text]
    assert "\ufffd" in prof.key_averages().table(header=text)
    with pytest.raises(AttributeError, match="\ufffd"):
        prof.key_averages().table(sort_by=text)


def test_files_may_be_in_a_folder_whose_name_is_not_utf8(prof, folder):
    prof.export_chrome_trace(f"{folder}/trace.json")
    prof.export_trace(f"{folder}/recording.mtrec")
    prof.export_report(f"{folder}/page.html")
    prof.events().export_chrome_trace(f"{folder}/list.json")
    tensorboard_trace_handler(folder, "worker \udcfe")(prof)
    names = set(os.listdir(os.fsencode(folder)))
    assert {b"trace.json", b"recording.mtrec", b"page.html", b"list.json"} < names
    assert any(name.startswith(b"worker \xfe.") for name in names)
    with open(f"{folder}/trace.json") as file:
        assert any(event["name"] == "scope" for event in json.load(file)["traceEvents"])


def test_a_spill_file_may_be_in_such_a_folder(folder):
    with (
        profile(activities=["cpu"], experimental_config=_ExperimentalConfig(spill_path=f"{folder}/spill \udcfe.mtrec")) as prof,
        record_function("scope"),
    ):
        pass
    assert [event.name for event in prof.events()] == ["scope"]
    assert os.listdir(os.fsencode(folder)) == [b"spill \xfe.mtrec"]


def test_an_error_names_such_a_file(prof, folder):
    with pytest.raises(FileNotFoundError, match="\ufffd/missing/x.json") as caught:
        prof.export_trace(f"{folder}/missing/x.json")
    assert caught.value.filename == f"{folder}/missing/x.json"
