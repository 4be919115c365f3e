"""Perfetto traces as the perfetto package's protobuf classes read them, replayed the way trace processor does."""

import gzip
import json
from collections import defaultdict

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

SAMPLES = ["cpu", "full", "npu", "cuda", "hostile", "empty", "sampled"]
BEGIN, END, INSTANT, COUNTER = (pb.TrackEvent.Type.Value(f"TYPE_{n}") for n in ("SLICE_BEGIN", "SLICE_END", "INSTANT", "COUNTER"))
BOOTTIME, SEQUENCE_CLOCK = 6, 64


class Sequence:
    """What trace processor keeps for one packet sequence."""

    def __init__(self):
        self.names, self.categories, self.keys, self.texts = {}, {}, {}, {}
        self.track = None
        self.now = None

    def take(self, packet):
        if packet.sequence_flags & 1:
            self.__init__()
        if packet.HasField("trace_packet_defaults"):
            assert packet.trace_packet_defaults.timestamp_clock_id == SEQUENCE_CLOCK
            self.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
        if packet.HasField("clock_snapshot"):
            clocks = {c.clock_id: c for c in packet.clock_snapshot.clocks}
            assert clocks[SEQUENCE_CLOCK].is_incremental
            self.now = clocks[BOOTTIME].timestamp + clocks[SEQUENCE_CLOCK].timestamp
        data = packet.interned_data
        self.names.update((e.iid, e.name) for e in data.event_names)
        self.categories.update((e.iid, e.name) for e in data.event_categories)
        self.keys.update((e.iid, e.name) for e in data.debug_annotation_names)
        self.texts.update((e.iid, e.str) for e in data.debug_annotation_string_values)

    def arguments(self, event):
        values = {}
        for annotation in event.debug_annotations:
            kind = annotation.WhichOneof("value")
            value = getattr(annotation, kind)
            values[self.keys[annotation.name_iid]] = self.texts[value].decode() if kind == "string_value_iid" else value
        return values


class Replay:
    """Slices, instants and counters of a trace."""

    def __init__(self, data):
        trace = pb.Trace()
        trace.ParseFromString(data)
        known = pb.Trace()
        known.CopyFrom(trace)
        known.DiscardUnknownFields()
        assert known.ByteSize() == trace.ByteSize(), "a field is not in Perfetto's schema"
        self.tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
        self.slices, self.instants, self.counters = [], [], defaultdict(list)
        sequences, moments = defaultdict(Sequence), []
        for packet in trace.packet:
            if not packet.trusted_packet_sequence_id:
                continue
            sequence = sequences[packet.trusted_packet_sequence_id]
            sequence.take(packet)
            if packet.HasField("track_event"):
                assert packet.sequence_flags & 2
                sequence.now += packet.timestamp
                moments.append((sequence.now, len(moments), sequence, packet.track_event))
        open_slices = defaultdict(list)
        for now, _, sequence, event in sorted(moments, key=lambda m: m[:2]):
            self.play(now, sequence, event, open_slices[sequence.track])
        assert not any(open_slices.values()), "a slice never ends"

    def play(self, now, sequence, event, stack):
        if event.type == COUNTER:
            value = event.double_counter_value if event.HasField("double_counter_value") else event.counter_value
            self.counters[self.tracks[sequence.track].name].append((now, value))
            return
        if event.type == END:
            stack.pop()["end"] = now
            return
        item = {
            "name": sequence.names[event.name_iid],
            "categories": [sequence.categories[i] for i in event.category_iids],
            "start": now,
            "track": sequence.track,
            "args": sequence.arguments(event),
            "flows": list(event.flow_ids),
            "terminating": list(event.terminating_flow_ids),
            "depth": len(stack),
        }
        if event.type == INSTANT:
            self.instants.append(item)
            return
        assert event.type == BEGIN
        stack.append(item)
        self.slices.append(item)


def load(traces, name):
    return Replay((traces / f"{name}.pftrace").read_bytes())


@pytest.mark.parametrize("name", SAMPLES)
def test_every_slice_is_closed_and_every_track_described(traces, name):
    replay = load(traces, name)
    for item in replay.slices + replay.instants:
        assert item["track"] in replay.tracks
    for track in replay.tracks.values():
        assert not track.parent_uuid or track.parent_uuid in replay.tracks


@pytest.mark.parametrize("name", SAMPLES)
def test_gz_holds_the_same_bytes(traces, name):
    assert gzip.decompress((traces / f"{name}.pftrace.gz").read_bytes()) == (traces / f"{name}.pftrace").read_bytes()


@pytest.mark.parametrize("name", ["cpu", "full", "npu", "cuda", "hostile"])
def test_the_same_slices_as_in_the_chrome_trace(traces, name):
    chrome = json.loads((traces / f"{name}.json").read_bytes())
    base = chrome["baseTimeNanoseconds"]
    expected = sorted(
        (base + round(e["ts"] * 1000), round(e["dur"] * 1000), e["name"], e["cat"])
        for e in chrome["traceEvents"]
        if e["ph"] == "X" and e["cat"] != "Trace" and "derived from stacks" not in e["args"]
    )
    slices = load(traces, name).slices
    assert sorted((s["start"], s["end"] - s["start"], s["name"], s["categories"][0]) for s in slices) == expected


def test_flows_join_launch_and_kernel_even_where_kernels_overlap(traces):
    replay = load(traces, "npu")
    starts = {flow: s for s in replay.slices for flow in s["flows"]}
    ends = [(flow, s) for s in replay.slices for flow in s["terminating"]]
    assert len(ends) == len(starts) == 15
    for flow, kernel in ends:
        assert starts[flow]["name"] == "aclrtLaunchKernel"
        assert starts[flow]["args"]["correlation"] == kernel["args"]["correlation"]


def test_streams_are_below_their_device_and_the_device_below_its_process(traces):
    replay = load(traces, "npu")
    kernel = next(s for s in replay.slices if s["name"] == "gemm_kernel")
    stream = replay.tracks[kernel["track"]]
    device = replay.tracks[stream.parent_uuid]
    process = replay.tracks[device.parent_uuid]
    assert (stream.name, device.name, process.process.pid) == ("stream 7", "NPU 0", 437)
    overlap = next(s for s in replay.slices if s["name"] == "relu_kernel")
    assert replay.tracks[overlap["track"]].name == "stream 7 (overlap)"
    assert replay.tracks[overlap["track"]].parent_uuid == stream.parent_uuid


def test_threads_are_thread_tracks(traces):
    threads = [t.thread for t in load(traces, "cpu").tracks.values() if t.HasField("thread")]
    assert sorted((t.pid, t.tid, t.thread_name) for t in threads) == [(437, 437, "python3"), (437, 476, "pt_autograd_0")]


def test_memory_is_a_counter(traces):
    counters = load(traces, "full").counters
    assert [value for _, value in counters["CPU memory allocated"]] == [5096, 6120, 5096, 1000]
    assert {value for _, value in counters["CPU memory reserved"]} == {8192}


def test_measured_counters_lie_below_their_device_with_their_unit(traces):
    replay = load(traces, "cuda")
    assert [value for _, value in replay.counters["power"]] == [300.5, 412.25, 350]
    times = [time for time, _ in replay.counters["power"]]
    assert [time - times[0] for time in times] == [0, 50000, 100000]
    tracks = {track.name: track for track in replay.tracks.values() if track.HasField("counter")}
    assert (tracks["power"].counter.unit_name, tracks["sm__cycles_active"].counter.unit_name) == ("W", "")
    assert replay.tracks[tracks["power"].parent_uuid].name == "GPU 0"


def test_arguments_are_annotations(traces):
    replay = load(traces, "full")
    linear = next(s for s in replay.slices if s["name"] == "aten::linear")
    assert linear["args"]["Input Dims"].startswith("[[2,3,8,8],[8,4]")
    assert linear["args"]["stack"] == "train.py:14:forward\ntrain.py:7:<module>"
    assert linear["args"]["Sequence number"] == 20


def test_losses_and_metadata_are_told(traces):
    about = next(i for i in load(traces, "full").instants if i["name"] == "recording")
    assert about["args"]["lost (budget)"].startswith("17 thread 476")
    assert about["args"]["lr"] == "0.01"


def test_hostile_names_arrive(traces):
    names = {s["name"] for s in load(traces, "hostile").slices}
    assert {'quote"inside', "back\\slash\\", "émoji 🔥 漢字 \u2028", "x" * 2**20} <= names
    assert {"bad utf-8 \ufffd\ufffd\ufffd( \ufffd\ufffd\ufffd end", "\x1b]0;title\x07 \x7f \x9b31m", "not in XML \ufffe\uffff"} <= names


class Callstacks:
    """The samples of a trace, with their calls from the outermost to the innermost, as trace processor looks them up."""

    def __init__(self, data):
        trace = pb.Trace()
        trace.ParseFromString(data)
        names, frames, stacks, paths = {}, {}, {}, {}
        self.samples = []
        for packet in trace.packet:
            if packet.sequence_flags & 1:
                names, frames, stacks, paths, mappings = {}, {}, {}, {}, {}
            data = packet.interned_data
            names.update((e.iid, e.str.decode()) for e in data.function_names)
            paths.update((e.iid, e.str.decode()) for e in data.source_paths)
            if packet.trusted_packet_sequence_id:
                mappings.update((e.iid, e) for e in data.mappings)
            frames.update((e.iid, e) for e in data.frames)
            stacks.update((e.iid, e) for e in data.callstacks)
            if not packet.HasField("perf_sample"):
                continue
            assert packet.sequence_flags & 2 and packet.timestamp_clock_id == 0, "a time of the trace's own clock"
            calls = [frames[frame] for frame in stacks[packet.perf_sample.callstack_iid].frame_ids]
            assert all(call.mapping_id in mappings for call in calls), "trace processor leaves out frames without a mapping"
            self.samples.append(
                {
                    "time": packet.timestamp,
                    "thread": (packet.perf_sample.pid, packet.perf_sample.tid),
                    "calls": [names[call.function_name_id] for call in calls],
                    "places": [(paths.get(call.source_path_iid, ""), call.line_number) for call in calls],
                }
            )


def test_samples_are_callstacks_of_their_threads(traces):
    samples = Callstacks((traces / "sampled.pftrace").read_bytes()).samples
    loop = [sample for sample in samples if sample["thread"] == (437, 437)]
    assert len(loop) == 40
    times = [sample["time"] - loop[0]["time"] for sample in loop]
    assert times[:8] == [1_000_000 * ms // 10 for ms in (0, 10, 20, 35, 45, 55, 65, 75)]
    assert loop[0]["calls"] == ["main (/home/me/train.py:40)", "forward (/home/me/train.py:7)"]
    assert loop[0]["places"] == [("/home/me/train.py", 40), ("/home/me/train.py", 7)]
    assert loop[7]["calls"][-1] == "[waits_for_lock]"
    saver = [sample["calls"][-1] for sample in samples if sample["thread"] == (437, 440)]
    assert saver == ["[sleeps]"] + 5 * ["[waits_for_gil]"]


def test_the_threads_of_samples_are_described(traces):
    replay = load(traces, "sampled")
    threads = {(track.thread.pid, track.thread.tid) for track in replay.tracks.values() if track.HasField("thread")}
    assert {sample["thread"] for sample in Callstacks((traces / "sampled.pftrace").read_bytes()).samples} <= threads


def test_without_samples_there_are_no_callstacks(traces):
    assert not Callstacks((traces / "cpu.pftrace").read_bytes()).samples
