"""Where torch is broken and we are not, a test a sentence."""

import gzip
import itertools
import json
import threading

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function


def test_with_stack_alone_fills_stacks_and_export_stacks(op, tmp_path):
    with profile(with_stack=True) as prof:
        op("aten::mul")
    assert prof.events()[0].stack
    prof.export_stacks(tmp_path / "stacks.txt")
    assert (tmp_path / "stacks.txt").read_text().count("\n") == 1


def test_export_can_be_repeated(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    for name in ("first.json", "second.json"):
        prof.export_chrome_trace(tmp_path / name)
    first, second = (json.loads((tmp_path / name).read_text()) for name in ("first.json", "second.json"))
    assert first["traceEvents"] == second["traceEvents"]


def test_a_bad_path_raises_an_error_with_the_path_and_loses_nothing(op, tmp_path):
    with profile() as prof:
        op("aten::mul")
    bad = tmp_path / "missing" / "trace.json"
    with pytest.raises(FileNotFoundError) as error:
        prof.export_chrome_trace(bad)
    assert str(bad) in str(error.value) and error.value.filename == str(bad)
    prof.export_chrome_trace(tmp_path / "trace.json")
    assert (tmp_path / "trace.json").stat().st_size > 0


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


@pytest.mark.parametrize("name", ['a "quoted" name', "back\\slash", "new\nline", "\x00\x01", "unicode \u00e9 \U0001f600", "]}"])
def test_every_name_is_escaped_and_never_rewritten(name, trace_of):
    with profile() as prof, record_function(name):
        pass
    assert prof.events()[0].name == name
    assert name in [event["name"] for event in trace_of(prof)["traceEvents"]]


def test_no_complete_events_of_one_track_overlap_in_part(trace_of):
    with profile(with_stack=True, with_modules=True) as prof:
        for _ in range(3):
            with record_function("outer"):
                x = torch.ones((2, 2), requires_grad=True)
                (x * x).sum().backward()
    complete = [event for event in trace_of(prof)["traceEvents"] if event["ph"] == "X"]
    for _, track in itertools.groupby(sorted(complete, key=lambda e: (str(e["pid"]), str(e["tid"]))), key=lambda e: (e["pid"], e["tid"])):
        spans = sorted(((round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)) for e in track), key=lambda span: (span[0], -span[1]))
        open_ends = []
        for start, end in spans:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1]
            open_ends.append(end)


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


def test_a_nested_session_is_refused_and_the_running_one_is_unharmed(op):
    with profile() as outer:
        op("aten::before")
        with pytest.raises(RuntimeError, match="another profiling session is active"), profile():
            pytest.fail("the inner profile must not start")
        op("aten::after")
    assert [event.name for event in outer.events()] == ["aten::before", "aten::after"]


def test_a_second_stop_is_refused_and_loses_nothing(op):
    prof = profile()
    prof.start()
    op("aten::mul")
    prof.stop()
    with pytest.raises(RuntimeError, match="already stopped"):
        prof.stop()
    assert [event.name for event in prof.events()] == ["aten::mul"]


def test_use_after_stop_is_refused():
    with profile() as prof:
        pass
    with pytest.raises(RuntimeError, match="not active"):
        prof.step()


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
    with pytest.raises(OSError):
        prof.export_chrome_trace(taken)
    assert list(tmp_path.iterdir()) == [taken]
    prof.export_chrome_trace(taken / "trace.json")
    assert [entry.name for entry in taken.iterdir()] == ["trace.json"]


@pytest.mark.parametrize("options", [{}, {"profile_memory": True}, {"with_flops": True, "with_stack": True}, {"record_shapes": True}])
def test_percentages_never_exceed_100_and_header_and_cells_agree(options):
    with profile(**options) as prof, record_function("outer"):
        x = torch.ones((32, 32), requires_grad=True)
        (x @ x).sum().backward()
    table = prof.key_averages(group_by_input_shape="record_shapes" in options, group_by_stack_n=2 * ("with_stack" in options)).table()
    lines = table.splitlines()
    columns = [match for match in lines[0].split("  ") if match]
    assert len(columns) == len(lines[1].split("  ")) - lines[1].split("  ").count("")
    for word in table.split():
        if word.endswith("%") and word != "%":
            assert float(word[:-1]) <= 100


def test_ops_on_plain_threads_are_recorded_with_their_memory():
    def work():
        torch.ones((64, 64)) * 2

    with profile(profile_memory=True) as prof:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    mul = next(event for event in prof.events() if event["name"].endswith("mul"))
    assert mul["cpu_memory_allocated_delta"] == 64 * 64 * 4
    assert mul["thread_id"] != threading.get_native_id()


def test_losses_are_reported(op):
    with profile(experimental_config=_ExperimentalConfig(budget_bytes=1 << 20)) as prof:
        for _ in range(100_000):
            op("aten::mul")
    lost = prof.losses()
    assert lost and lost[0].reason == "budget" and lost[0].count > 0
    assert len(prof.events()) + sum(loss.count for loss in lost) == 100_000
    assert f"{lost[0].count} events (budget" in prof.key_averages().table().replace(",", "")


def test_a_memory_timeline_works_without_a_gpu_and_names_its_categories(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        layer = torch.nn.Linear(64, 64)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
        layer(torch.ones((32, 64))).sum().backward()
        optimizer.step()
    prof.export_memory_timeline(tmp_path / "timeline.html", device="cpu")
    page = (tmp_path / "timeline.html").read_text().lower()
    assert [name for name in ("parameter", "optimizer state", "activation", "gradient") if name not in page] == []


def test_a_memory_timeline_of_no_device_is_refused(tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        pass
    for device in ("cpu:x", "tpu", "xpu:0", ""):
        with pytest.raises(ValueError):
            prof.export_memory_timeline(tmp_path / "timeline.json", device=device)
