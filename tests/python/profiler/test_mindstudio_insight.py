"""A trace of an NPU keeps the rules by which MindStudio Insight reads a Chrome trace, as far as its documentation and its reader tell them.

The reader takes a file apart by itself: it looks for the first event in the first MiB and for the last one in the last MiB. It draws
complete events and arrows, and leaves out instants. Rows are pairs of a process and a thread; arrows are found by their id alone.
"""

import itertools
import json
import re
from collections import Counter
from decimal import Decimal

import pytest

PROGRAM = """
import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile, record_function

with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
    layer = torch.nn.Linear(64, 64).to("npu")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(3):
        with record_function("a step"):
            optimizer.zero_grad()
            layer(torch.zeros((32, 64), device="npu")).sum().backward()
            optimizer.step()
        prof.step()
prof.export_chrome_trace({path!r})
"""
MEBIBYTE = 1 << 20
DRAWN = {"X", "s", "f"}  # of what we write
LEFT_OUT = {"i"}
NAMES_OF_METADATA = {"process_name", "process_labels", "process_sort_index", "thread_name", "thread_sort_index"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("insight")


@pytest.fixture
def text(folder, build_folder, run_program):
    path = folder / "trace.json"
    if not path.exists():
        library = build_folder / "doubles" / "mspti_262" / "libmspti.so"
        environment = {"MINDTORCH_NPU": "reference,mspti", "LD_PRELOAD": str(library)}
        run_program(PROGRAM.format(path=str(path)), **environment)
    return path.read_text()


@pytest.fixture
def events(text):
    return read(text)["traceEvents"]


def read(text):
    return json.loads(text, parse_float=Decimal)  # times have more digits than a float


def complete(events, *categories):
    return [event for event in events if event["ph"] == "X" and (not categories or event["cat"] in categories)]


def row_of(event):
    return event["pid"], event["tid"]


def test_the_reader_finds_the_first_and_the_last_event(text, events):
    begin = text.index('"traceEvents"', 0, MEBIBYTE)
    first = begin + re.search(r"\[\s*\{", text[begin : begin + MEBIBYTE]).start() + 1
    last = text.rindex('"ph"', len(text) - min(MEBIBYTE, len(text)))
    depths = itertools.accumulate({"{": 1, "}": -1}.get(letter, 0) for letter in text[last:])
    end = last + next(i for i, depth in enumerate(depths) if depth < 0) + 1
    assert read("[" + text[first:end] + "]") == events


def test_there_is_nothing_that_the_reader_does_not_know(events):
    assert {event["ph"] for event in events} == DRAWN | LEFT_OUT | {"M"}
    assert {event["name"] for event in events if event["ph"] == "M"} == NAMES_OF_METADATA
    assert all(isinstance(event["args"].get("sort_index", 0), int) for event in events if event["ph"] == "M")


def test_times_are_plain_numbers_of_microseconds(text, events):
    assert not re.search(r'"(ts|dur)":\s*["-]', text), "a string or a negative number"
    assert not re.search(r'"(ts|dur)":[\d.]+[eE]', text)
    assert all(event["ts"] > 0 for event in events)
    assert all(event["dur"] >= 0 for event in complete(events))


def test_each_row_has_a_process_with_a_name_and_a_name_of_its_own(events):
    names = {}
    for event in events:
        if event["ph"] == "M" and event["name"] in ("process_name", "process_labels"):
            names.setdefault(event["pid"], []).append(*event["args"].values())
    rows = {row_of(event): event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    drawn = {row_of(event) for event in complete(events) if event["pid"] != "Spans"}
    assert drawn <= set(rows)
    host = complete(events, "cpu_op")[0]["pid"]
    assert names[host][1] == "CPU"
    kernels = complete(events, "kernel")
    assert kernels and {names[event["pid"]][1] for event in kernels} == {"NPU 0"}
    assert all(rows[row_of(event)].startswith("stream ") for event in kernels)


def test_events_of_a_row_nest(events):
    for _, row in itertools.groupby(sorted(complete(events), key=lambda e: (str(row_of(e)), e["ts"], -e["dur"])), key=row_of):
        ends = []
        for event in row:
            end = event["ts"] + event["dur"]
            while ends and ends[-1] <= event["ts"]:
                ends.pop()
            assert not ends or end <= ends[-1], event
            ends.append(end)


def test_categories_and_arguments_are_those_of_the_table_in_the_documentation(events):
    assert {event["cat"] for event in complete(events)} >= {"cpu_op", "user_annotation", "privateuse1_runtime", "kernel", "gpu_memcpy"}
    for event in complete(events, "kernel"):
        assert event["args"]["type"] == "KERNEL_AICORE"
        assert {"device", "stream", "correlation", "External id"} <= set(event["args"])
        assert (event["args"]["device"], event["args"]["stream"]) == row_of(event)
    for event in complete(events, "gpu_memcpy", "gpu_memset"):
        assert event["args"]["timing"] == "host" and event["args"]["bytes"] > 0


def test_arrows_join_events_and_no_two_have_the_same_id(events):
    starts = {(row_of(event), event["ts"]) for event in complete(events)}
    ends = {}
    for event in events:
        if event["ph"] in "sf":
            assert (row_of(event), event["ts"]) in starts, event
            ends.setdefault(event["id"], []).append((event["ph"], event["cat"]))
    kinds = Counter(kind for arrow in ends.values() for _, kind in arrow)
    assert all(arrow in ([("s", kind), ("f", kind)] for kind in kinds) for arrow in ends.values())
    assert set(kinds) == {"ac2g", "fwdbwd"} and max(ends) < 2**53
    assert kinds["ac2g"] == 2 * len(complete(events, "kernel", "gpu_memcpy", "gpu_memset"))
