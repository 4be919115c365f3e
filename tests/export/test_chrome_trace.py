"""Chrome traces as Python's json and gzip read them: torch's schema, rows that nest, arrows that are paired, whatever the names.

Tests mindtorch/export/input_text.
"""

import gzip
import json
import subprocess
from collections import Counter, defaultdict

import pytest

SAMPLES = ["cpu", "full", "npu", "cuda", "hostile", "empty", "sampled"]
METADATA = {"process_name", "process_labels", "process_sort_index", "thread_name", "thread_sort_index"}


def unique_keys(pairs):
    """An object of JSON text, refused if a key stands twice."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice in {keys}"
    return dict(pairs)


def load(path):
    return json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=unique_keys)


def complete(trace, *categories):
    return [e for e in trace["traceEvents"] if e["ph"] == "X" and (not categories or e["cat"] in categories)]


def ns(micros):
    return round(micros * 1000)


@pytest.fixture(params=SAMPLES)
def sample(request, traces):
    return load(traces / f"{request.param}.json")


def test_top_level_is_torchs(sample):
    assert sample["schemaVersion"] == 1
    assert sample["displayTimeUnit"] == "ms"
    assert sample["baseTimeNanoseconds"] % (7889238 * 10**9) == 0
    assert isinstance(sample["deviceProperties"], list)
    assert list(sample)[-2:] == ["traceEvents", "traceName"]


def test_first_element_is_a_complete_event(sample):
    assert sample["traceEvents"][0]["ph"] == "X"
    for event in sample["traceEvents"]:
        assert event["ph"] in "XiMsfCP"
        assert {"name", "pid", "tid", "ts"} <= set(event)
        if event["ph"] == "X":
            assert {"cat", "dur", "args"} <= set(event)
        if event["ph"] == "M":
            assert event["name"] in METADATA


def test_counters_have_an_event_for_each_sample_in_the_process_of_their_device(traces):
    events = load(traces / "cuda.json")["traceEvents"]
    device = next(e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == "GPU 0")
    samples = [e for e in events if e["ph"] == "C"]
    assert {e["pid"] for e in samples} == {device}
    assert [e["args"] for e in samples if e["name"] == "power"] == [{"W": 300.5}, {"W": 412.25}, {"W": 350}]
    assert [e["args"] for e in samples if e["name"] == "sm__cycles_active"] == [{"value": 0}, {"value": 97.5}]
    first, second, _ = (e["ts"] for e in samples if e["name"] == "power")
    assert ns(second) - ns(first) == 50000


def test_everything_lies_in_the_recorded_window(sample):
    start = next(e["ts"] for e in sample["traceEvents"] if e["name"] == "Iteration Start: PyTorch Profiler")
    end = next(e["ts"] for e in sample["traceEvents"] if e["name"] == "Record Window End")
    for event in sample["traceEvents"]:
        if event["ph"] != "M" and event["name"] != "Record Window End":
            assert start <= event["ts"] <= end
            assert ns(event["ts"]) + ns(event.get("dur", 0)) < ns(end)
            assert event["ts"] + event.get("dur", 0) < end, "also where a reader adds binary fractions"


def test_rows_nest_and_have_small_positive_ids(sample):
    rows = defaultdict(list)
    for event in complete(sample):
        rows[event["pid"], event["tid"]].append((ns(event["ts"]), -ns(event["dur"])))
        if event["cat"] != "Trace":
            assert isinstance(event["pid"], int) and 0 <= event["pid"] < 2**32
            assert isinstance(event["tid"], int) and 0 < event["tid"] < 2**32
    for events in rows.values():
        ends = []
        for start, negative_duration in sorted(events):
            end = start - negative_duration
            while ends and ends[-1] <= start:
                ends.pop()
            assert not ends or end <= ends[-1], "two events overlap in part"
            ends.append(end)


def test_arrows_have_both_ends_at_slices(sample):
    slices = {(e["pid"], e["tid"], e["ts"]) for e in complete(sample)}
    ends = defaultdict(list)
    for event in sample["traceEvents"]:
        if event["ph"] in "sf":
            assert (event["pid"], event["tid"], event["ts"]) in slices
            assert (event["ph"] == "f") == (event.get("bp") == "e")
            ends[event["cat"], event["name"], event["id"]].append(event["ph"])
    assert all(pair == ["s", "f"] for pair in ends.values())


def test_rows_and_processes_are_named(sample):
    named = Counter((e["pid"], e["tid"], e["name"]) for e in sample["traceEvents"] if e["ph"] == "M")
    for event in complete(sample):
        if event["cat"] != "Trace":
            assert named[event["pid"], event["tid"], "thread_name"] == 1
            assert named[event["pid"], event["tid"], "thread_sort_index"] == 1
            assert named[event["pid"], 0, "process_name"] == 1


@pytest.mark.parametrize("name", SAMPLES)
def test_gz_holds_the_same_text(traces, name):
    path = traces / f"{name}.json.gz"
    subprocess.run(["gzip", "-t", path], check=True)
    text = gzip.decompress(path.read_bytes())
    plain = (traces / f"{name}.json").read_bytes()
    assert text.replace(b".json.gz", b".json") == plain


def test_hostile_names_are_escaped_not_rewritten(traces):
    names = [e["name"] for e in complete(load(traces / "hostile.json"), "user_annotation")]
    assert 'quote"inside' in names
    assert "back\\slash\\" in names
    assert "control \x01\x02\x1f\n\t\r\b\f and NUL \0 end" in names
    assert "bad utf-8 \ufffd\ufffd\ufffd( \ufffd\ufffd\ufffd end" in names
    assert "</script><script>alert(1)</script><!--" in names
    assert "émoji 🔥 漢字 \u2028" in names
    assert "x" * 2**20 in names
    assert "" in names
    assert {"\x1b]0;title\x07 \x7f \x9b31m", "not in XML \ufffe\uffff"} <= set(names)


def test_hostile_attributes_and_metadata_stay_valid(traces):
    trace = load(traces / "hostile.json")
    assert trace['quote"inside'] == "x"
    assert trace["metadata.traceEvents"] == []
    for index, event in enumerate(complete(trace, "user_annotation")):
        assert event["args"]["External id"] == index + 1  # ours, not the attribute of the same name
        assert event["args"]["text " + event["name"][:64]] == event["name"] or "\ufffd" in event["name"]
    assert trace["mindtorch"]["losses"][0]["count"] == 3


def test_default_flags_add_no_optional_arguments(traces):
    for event in complete(load(traces / "cpu.json"), "cpu_op", "user_annotation"):
        assert set(event["args"]) <= {"External id", "Record function id", "Sequence number", "Fwd thread id", "Ev Idx"}


def test_times_are_exact(traces):
    trace = load(traces / "cpu.json")
    step = next(e for e in complete(trace) if e["name"] == "ProfilerStep#2")
    assert trace["baseTimeNanoseconds"] + ns(step["ts"]) == 1794710745000000123 + 10000
    relu = next(e for e in complete(trace) if e["name"] == "aten::relu")
    assert ns(relu["dur"]) == 5001


def test_sequence_numbers_and_forward_threads(traces):
    trace = load(traces / "cpu.json")
    args = {e["name"]: e["args"] for e in complete(trace)}
    assert args["aten::relu"]["Sequence number"] == 31
    assert args["aten::relu"]["Fwd thread id"] == 0
    assert args["ReluBackward0"]["Fwd thread id"] == 1
    assert "Sequence number" not in args["aten::mm"]
    assert sum(e["ph"] == "s" and e["cat"] == "fwdbwd" for e in trace["traceEvents"]) == 4


def test_shapes_and_stacks_are_torchs_and_ours(traces):
    linear = next(e["args"] for e in complete(load(traces / "full.json")) if e["name"] == "aten::linear")
    assert linear["Input Dims"] == [[2, 3, 8, 8], [8, 4], [], [], [], [], [], [], [], [], [[2, 3], [4]]]
    assert "input_shapes" not in linear, "it is written for ops of hosts that tell the device of an op"
    scalars = ["Scalar", "Scalar", "Scalar", "ScalarList", "ScalarList"]
    assert linear["Input type"] == ["float", "long int", "float", "", *scalars, "", "TensorList"]
    assert linear["Input Strides"][:2] == [[192, 64, 8, 1], [1, 8]]
    assert linear["Concrete Inputs"] == ["", "", "", "", "6", "True", "0.1", "[1, -1]", "[True, False]", "mean", ""]
    assert linear["stack"] == ["train.py:14:forward", "train.py:7:<module>"]


def test_flags_and_metadata_are_top_level_keys(traces):
    trace = load(traces / "full.json")
    assert [trace[key] for key in ("record_shapes", "with_stack", "profile_memory", "with_flops", "with_modules")] == [1] * 5
    assert trace["framework"] == "mindtorch"
    assert trace["lr"] == 0.01
    assert "record_shapes" not in load(traces / "cpu.json")


def test_rank_is_found_line_by_line_before_the_events(traces):
    text = (traces / "full.json").read_text()
    assert text.index('"rank": 3') < text.index('"traceEvents"')


def test_memory_reports_are_torchs_instants(traces):
    trace = load(traces / "full.json")
    reports = [e for e in trace["traceEvents"] if e["name"] == "[memory]"]
    assert [e["args"]["Bytes"] for e in reports] == [4096, 1024, -1024, -4096]
    assert all(e["ph"] == "i" and e["s"] == "t" and e["cat"] == "cpu_instant_event" for e in reports)
    assert reports[0]["args"]["Device Type"] == 0 and reports[0]["args"]["Device Id"] == -1
    assert reports[0]["args"]["Total Allocated"] == 5096


def test_memory_before_and_after_each_op(traces):
    linear = next(e["args"] for e in complete(load(traces / "full.json")) if e["name"] == "aten::linear")
    assert linear["device_type"] == "CPU"
    before, after, delta = (linear[f"cpu_memory_allocated_{what}"] for what in ("before", "after", "delta"))
    assert (before, after, delta) == (1000, 6120, 5120)


def test_python_calls_name_their_parents(traces):
    calls = complete(load(traces / "full.json"), "python_function")
    assert [(e["name"], e["args"]["Python id"], e["args"]["Python parent id"]) for e in calls] == [
        ("train.py(7): <module>", 1, None),
        ("train.py(12): step", 2, 1),
        ("nn.Module: Linear_0", 3, 2),
    ]


@pytest.mark.parametrize(("name", "runtime"), [("npu", "privateuse1_runtime"), ("cuda", "cuda_runtime")])
def test_device_activities_are_linked_to_their_launches(traces, name, runtime):
    trace = load(traces / f"{name}.json")
    launches = {e["args"]["correlation"]: e for e in complete(trace, runtime)}
    ops = {e["args"]["External id"]: e for e in complete(trace, "cpu_op")}
    work = complete(trace, "kernel", "gpu_memcpy", "gpu_memset")
    assert len(work) == 15
    for activity in work:
        launch = launches[activity["args"]["correlation"]]
        assert launch["ts"] <= activity["ts"]
        assert activity["args"]["stream"] >= 1
        op = ops[activity["args"]["External id"]]
        assert launch["args"]["External id"] == activity["args"]["External id"]
        assert op["ts"] <= launch["ts"] < op["ts"] + op["dur"]
    assert sum(e["ph"] == "f" and e["cat"] == "ac2g" for e in trace["traceEvents"]) == 15
    relu = [e for e in work if e["name"] == "relu_kernel"]
    assert all(e["args"]["stream"] == 7 and e["tid"] != 7 for e in relu)


def test_losses_and_clocks_are_told(traces):
    ours = load(traces / "full.json")["mindtorch"]
    assert [(loss["reason"], loss["count"]) for loss in ours["losses"]] == [("budget", 17), ("unfinished", 1)]
    assert ours["clocks"][0] == {"name": "tsc", "ticks_per_second": 2300002000, "error_bound_ns": 12, "samples": 40}


def profiles(trace):
    """{(pid, tid): [(microseconds, calls from the outermost to the innermost)]}, read as Chrome's developer tools do."""
    nodes, starts, samples = {}, {}, {}
    for event in trace["traceEvents"]:
        if event["ph"] != "P":
            continue
        assert event["cat"] == "disabled-by-default-v8.cpu_profiler"
        key, data = event["id"], event["args"]["data"]
        if event["name"] == "Profile":
            assert key not in starts, "a profile begins once"
            starts[key], nodes[key] = data["startTime"], {}
            samples[event["pid"], event["tid"]] = []
            continue
        assert event["name"] == "ProfileChunk"
        for node in data["cpuProfile"]["nodes"]:
            parent = nodes[key][node["parent"]] if "parent" in node else None
            nodes[key][node["id"]] = [*parent, node["callFrame"]] if parent is not None else []
        assert len(data["timeDeltas"]) == len(data["cpuProfile"]["samples"])
        for node, delta in zip(data["cpuProfile"]["samples"], data["timeDeltas"], strict=True):
            starts[key] += delta
            samples[event["pid"], event["tid"]].append((starts[key], nodes[key][node]))
    return samples


def test_samples_are_profiles_of_their_threads(traces):
    trace = load(traces / "sampled.json")
    samples = profiles(trace)
    assert set(samples) == {(437, 437), (437, 440)}
    loop = samples[437, 437]
    assert len(loop) == 40
    assert [time - loop[0][0] for time, _ in loop[:8]] == [0, 1000, 2000, 3500, 4500, 5500, 6500, 7500]
    assert [(call["functionName"], call["url"], call["lineNumber"]) for call in loop[0][1]] == [
        ("main", "/home/me/train.py", 39),
        ("forward", "/home/me/train.py", 6),
    ]
    assert loop[7][1][-1]["functionName"] == "[waits_for_lock]"
    op = next(event for event in trace["traceEvents"] if event.get("name") == "aten::linear")
    assert loop[0][0] == round(op["ts"]) + 1000


def test_a_long_profile_comes_in_parts_that_bring_their_calls_once(traces):
    events = [event for event in load(traces / "sampled.json")["traceEvents"] if event["ph"] == "P"]
    ids = [
        node["id"]
        for event in events
        if event["id"] == events[0]["id"]
        for node in event["args"]["data"].get("cpuProfile", {"nodes": []})["nodes"]
    ]
    assert len(ids) == len(set(ids)) > 3


def test_without_samples_there_are_no_profiles(traces):
    assert not profiles(load(traces / "cpu.json"))
