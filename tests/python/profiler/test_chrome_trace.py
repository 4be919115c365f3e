"""export_chrome_trace: what the trace contains, and its layout."""

import itertools
import json
import os
import subprocess
import threading

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function
from profiles import record_ops, train

# Rule: trace.arguments


def test_the_trace_carries_shapes_and_stacks_in_args(trace_of):
    with profile(record_shapes=True, with_stack=True) as prof:
        torch.ones((2, 2)) * 2
    mul = next(event for event in trace_of(prof)["traceEvents"] if event["name"].endswith("mul"))
    assert mul["args"]["input_shapes"][0] == [2, 2] and mul["args"]["stack"]


def test_a_stack_is_written_once_and_referred_to_afterwards(op, trace_of):
    with profile(with_stack=True) as prof:
        for _ in range(3):
            op("aten::mul")
    first, *others = [event["args"] for event in trace_of(prof)["traceEvents"] if event["name"] == "aten::mul"]
    assert any(frame.endswith(":test_a_stack_is_written_once_and_referred_to_afterwards") for frame in first["stack"])
    assert [args["stack"] for args in others] == [[f"same as stack id {first['stack id']}"]] * 2


def test_stacks_that_are_referred_to_are_read_again(op, tmp_path, program):
    with profile(with_stack=True) as prof:
        for _ in range(3):
            op("aten::mul")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    subprocess.run([program("mtprof"), "export", tmp_path / "trace.json", "-o", tmp_path / "again.events.json"], check=True)
    stacks = [row["stack"] for row in json.loads((tmp_path / "again.events.json").read_text())["events"] if row["name"] == "aten::mul"]
    assert len(stacks) == 3
    assert stacks[0] and stacks[0] == stacks[1] == stacks[2]


def test_verbose_stacks_are_whole_and_have_torchs_name_and_form(op, tmp_path, program):
    config = _ExperimentalConfig(verbose=True)
    with profile(with_stack=True, python_calls=False, experimental_config=config) as prof:
        for _ in range(2):
            op("aten::mul")
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text())
    (first, second) = (event["args"] for event in trace["traceEvents"] if event["name"] == "aten::mul")
    assert first["Call stack"] == second["Call stack"] == "".join(f"{entry};" for entry in prof.events()[0].stack)
    assert "stack" not in first
    subprocess.run([program("mtprof"), "export", tmp_path / "trace.json", "-o", tmp_path / "again.json"], check=True)
    again = json.loads((tmp_path / "again.json").read_text())["traceEvents"]
    assert [event["args"]["Call stack"] for event in again if event["name"] == "aten::mul"] == [first["Call stack"]] * 2


def test_metadata_of_a_program_do_not_decide_how_stacks_are_written(op, trace_of):
    with profile(with_stack=True, python_calls=False) as prof:
        op("aten::mul")
        prof.add_metadata("verbose", "1")
    (call,) = (event["args"] for event in trace_of(prof)["traceEvents"] if event["name"] == "aten::mul")
    assert call["stack"] and "Call stack" not in call


def inner(op):
    op("aten::mul")
    op("aten::add")


def test_functions_around_ops_are_slices_that_are_said_to_be_derived(op, trace_of):
    with profile(with_stack=True, python_calls=False) as prof:
        inner(op)
        inner(op)
    events = [event for event in trace_of(prof)["traceEvents"] if event["ph"] == "X"]
    ids = {event["args"]["Python id"]: event["name"] for event in events if event["cat"] == "python_function"}
    calls = [event for event in events if event["name"].endswith(": inner")]
    assert len(calls) == 2
    for call, mul, add in zip(calls, *([e for e in events if e["name"] == name] for name in ("aten::mul", "aten::add")), strict=True):
        assert call["args"]["derived from stacks"] is True
        assert ids[call["args"]["Python parent id"]].endswith(": test_functions_around_ops_are_slices_that_are_said_to_be_derived")
        assert call["ts"] <= mul["ts"]
        assert add["ts"] + add["dur"] <= call["ts"] + call["dur"] + 0.001


def test_a_function_comes_before_its_first_op_in_the_file(op, trace_of):
    """Viewers take the first of two slices with the same times for the outer one."""
    with profile(with_stack=True, python_calls=False) as prof:
        inner(op)
    names = [event["name"] for event in trace_of(prof)["traceEvents"] if event["ph"] == "X"]
    (function,) = (i for i, name in enumerate(names) if name.endswith(": inner"))
    assert function < names.index("aten::mul")


def test_parents_of_python_slices_lead_through_modules_and_functions(trace_of):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    with profile(with_stack=True, python_calls=False) as prof:
        model(torch.ones((1, 2)))
    slices = [event for event in trace_of(prof)["traceEvents"] if event["ph"] == "X" and event["cat"] == "python_function"]
    by_id = {event["args"]["Python id"]: event for event in slices}
    assert len(by_id) == len(slices)
    above, event = [], next(event for event in slices if event["name"] == "nn.Module: Linear_0")
    while event is not None:
        above.append(event["name"])
        event = by_id.get(event["args"]["Python parent id"])
    assert above[:2] == ["nn.Module: Linear_0", "nn.Module: Sequential_0"]
    assert above[2].endswith(": test_parents_of_python_slices_lead_through_modules_and_functions")
    assert [event["args"]["Python module id"] for event in slices if event["name"].startswith("nn.Module: ")] == [0, 0]


def test_without_flags_the_trace_has_neither_shapes_nor_stacks(trace_of):
    with profile() as prof:
        torch.ones((2, 2)) * 2
    for event in trace_of(prof)["traceEvents"]:
        assert not {"input_shapes", "stack", "Input Dims", "cpu_memory_allocated_before"} & set(event.get("args", {}))


# Rule: trace.json


def test_the_chrome_trace_is_json_made_from_the_recorded_events(trace_of):
    with profile() as prof:
        train()
    written = [event["name"] for event in trace_of(prof)["traceEvents"] if event["ph"] == "X"]
    assert written and {event["name"] for event in prof.events()} <= set(written)


# Rule: trace.names


def test_the_trace_has_torchs_categories_and_argument_names(op, trace_of):
    with profile(record_shapes=True) as prof, record_function("scope"):
        op("aten::mul", [2, 2])
    events = {event["name"]: event for event in trace_of(prof)["traceEvents"]}
    assert events["scope"]["cat"] == "user_annotation" and events["aten::mul"]["cat"] == "cpu_op"
    args = events["aten::mul"]["args"]
    assert {"External id", "Input Dims", "input_shapes"} <= set(args) and args["Input Dims"] == args["input_shapes"]


# Rule: trace.first


def test_the_first_event_of_a_trace_is_a_complete_event_of_this_process(op, trace_of):
    first = trace_of(record_ops(op))["traceEvents"][0]
    assert first["ph"] == "X" and first["pid"] == os.getpid()
    assert {"name", "ts", "dur", "tid"} <= set(first)


# Rule: metadata.kept


@pytest.mark.parametrize("name", ['a "quoted" name', "back\\slash", "new\nline", "\x00\x01", "unicode \u00e9 \U0001f600", "]}"])
def test_every_name_is_escaped_and_never_rewritten(name, trace_of):
    with profile() as prof, record_function(name):
        pass
    assert prof.events()[0].name == name
    assert name in [event["name"] for event in trace_of(prof)["traceEvents"]]


# Rule: trace.valid


def test_no_complete_events_of_one_track_overlap_in_part(trace_of):
    with profile(with_stack=True, with_modules=True) as prof:
        for _ in range(3):
            with record_function("outer"):
                x = torch.ones((2, 2), requires_grad=True)
                (x * x).sum().backward()
    complete = [event for event in trace_of(prof)["traceEvents"] if event["ph"] == "X"]
    for _, track in itertools.groupby(sorted(complete, key=lambda e: (str(e["pid"]), str(e["tid"]))), key=lambda e: (e["pid"], e["tid"])):
        # Exact in nanoseconds, which their sum in microseconds is not.
        starts_and_durations = [(round(e["ts"] * 1000), round(e["dur"] * 1000)) for e in track]
        spans = sorted(((start, start + duration) for start, duration in starts_and_durations), key=lambda span: (span[0], -span[1]))
        open_ends = []
        for start, end in spans:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


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


def test_track_ids_are_small_and_positive(op, trace_of):
    with profile() as prof:
        op("aten::mul")
    for event in trace_of(prof)["traceEvents"]:
        if event["ph"] == "X" and isinstance(event["tid"], int):
            assert 0 < event["tid"] < 2**31


def test_times_are_relative_to_a_base(op, trace_of):
    with profile() as prof:
        op("aten::mul")
    trace = trace_of(prof)
    event = next(event for event in trace["traceEvents"] if event["name"] == "aten::mul")
    assert trace["baseTimeNanoseconds"] > 0
    assert event["ts"] + event["dur"] < 2**53 / 1000  # a double holds every nanosecond
    assert round(event["dur"] * 1000) == prof.events()[0]["duration_ns"]


def test_sizes_of_our_ops_have_torchs_name_and_ours(op, trace_of):  # Rule: trace.arguments
    with profile(record_shapes=True) as prof:
        op("aten::mul", [2, 3])
    (call,) = [event for event in trace_of(prof)["traceEvents"] if event["name"] == "aten::mul"]
    assert call["args"]["input_shapes"] == call["args"]["Input Dims"] == [[2, 3]]
