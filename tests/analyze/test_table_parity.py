"""Our tables against torch's, byte for byte: torch's own classes are given the same rows and events, and asked for the same tables.

Two differences are wanted: the last line (how much was counted and lost), and shares above 100 %, which torch prints where a row calls
itself and for the spans of annotations on a device.
"""

import itertools
import random
import re
import subprocess

import pytest

pytestmark = pytest.mark.torch

OP, BACKWARD, SCOPE, STEP, RUNTIME, KERNEL = 0, 1, 2, 3, 6, 8
GRAIN = 125  # ns: such times are exact in binary microseconds, so that torch's float sums are ours
NAMES = ["aten::mm", "aten::to", "aten::a_rather_long_name_of_an_op_that_does_not_fit_into_the_column", "größe", "x", "aten::copy_"]


SORT_KEYS = """self_cpu_time_total cpu_time_total cpu_time count self_cuda_time_total device_time_total xpu_time key cpu_memory_usage
    self_privateuse1_memory_usage flops node_id is_async cpu_time_total_str overload_name""".split()


def escape(text):
    return str(text).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def settings(**values):
    return "".join(f"\t{name}={escape(value)}" for name, value in values.items())


def our_tables(program, lines):
    done = subprocess.run([program("table_tool")], input="\n".join(lines) + "\n", capture_output=True, check=True, encoding="utf-8")
    return done.stdout.split("\f\n")[:-1]


def assert_same(ours, torchs, noun="keys"):
    """Equal but for our last line and for torch's shares above 100 %."""
    if torchs == "":
        assert ours == ""
        return
    *our_lines, last, end = ours.split("\n")
    assert end == ""
    assert re.fullmatch(rf"Total {noun}: \d+  Count: \d+ calls  (Launches: \d+  Device records: \d+  )?Lost: 0 events", last)
    torch_lines = torchs.split("\n")[:-1]
    for our_line, torch_line in itertools.zip_longest(our_lines, torch_lines):
        if our_line == torch_line:
            continue
        too_much = [m for m in re.finditer(r"\S+%", torch_line) if float(m[0][:-1]) > 100]
        assert too_much, f"\nours:  {our_line!r}\ntorch: {torch_line!r}"
        for match in too_much:
            cell = slice(match.start(), match.end())
            assert our_line[cell].strip() == "--" or float(our_line[cell].strip(" %")) <= 100
            our_line = our_line[: cell.start] + torch_line[cell] + our_line[cell.stop :]
        assert our_line == torch_line


def table_options(rng):
    """Options for torch's table() that are left out where they have their defaults."""
    options = {}
    if rng.random() < 0.6:
        options["sort_by"] = rng.choice(SORT_KEYS)
    if rng.random() < 0.5:
        options["row_limit"] = rng.choice([-1, 0, 1, 3, 1000])
    if rng.random() < 0.4:
        options["header"] = rng.choice(["A header", "", "größe 100%"])
    if rng.random() < 0.3:
        options["top_level_events_only"] = True
    if rng.random() < 0.4:
        options["time_unit"] = rng.choice(["s", "ms", "us", "fortnight"])
    for name, values in [
        ("max_name_column_width", [None, 4, 10, 30, 200]),
        ("max_shapes_column_width", [None, 3, 12]),
        ("max_src_column_width", [None, 2, 9]),
    ]:
        if rng.random() < 0.3:
            options[name] = rng.choice(values)
    return options


def table_line(options, **more):
    plain = {name: "none" if value is None else int(value) if isinstance(value, bool) else value for name, value in options.items()}
    return "table" + settings(**plain, **more)


# Rows


def random_rows(rng):
    """Rows as dicts of our fields, such that no share exceeds 100 %."""
    with_device, with_stacks = rng.random() < 0.5, rng.random() < 0.4
    features = {name: rng.random() < 0.5 for name in ("memory", "flops", "shapes", "overloads", "nodes")}
    if with_stacks:
        features["flops"] = False  # torch prints the two under each other's header
    stacks = ["", "a.py:1:f", "a/long/path/of/some/file.py:12:function_name|b.py:2:g|größe.py:3:h"] if with_stacks else [""]
    unit = rng.choice([1, 1000, 10**6])
    rows = []
    for _ in range(rng.randrange(1, 9)):
        on_device = with_device and rng.random() < 0.4
        rows.append(
            {
                "key": rng.choice(NAMES),
                "count": rng.randrange(1, 2000),
                "self_cpu_time_total_ns": 0 if on_device else rng.randrange(0, 10**4) * GRAIN * unit,
                "is_device": int(on_device),
                "is_async": int(not on_device and rng.random() < 0.1),
                "is_user_annotation": int(not on_device and rng.random() < 0.2),
                "has_parent": int(rng.random() < 0.4),
                "use_device": "npu" if with_device else "",
                "cpu_time_total_ns": 0,
                "device_time_total_ns": 0,
                "self_device_time_total_ns": rng.randrange(1, 10**4) * GRAIN if on_device else 0,
                "flops": rng.choice([0, 1, 999, 1000, 31104, 5 * 10**9, 7 * 10**16, 3 * 10**18]) if features["flops"] else 0,
                "node_id": rng.choice([-1, 0, 3]) if features["nodes"] else -1,
                "overload_name": rng.choice(["", "Tensor", "out_with_a_long_name"]) if features["overloads"] else "",
                "stack": rng.choice(stacks),
            }
        )
        if features["shapes"]:
            rows[-1]["input_shapes"] = rng.choice(["", "2x3;3x4;-", "1x2x3x4x5x6x7x8;9x10x11x12x13x14x15;-;-;100000x200000x300000", "-"])
        for field in ("cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage"):
            rows[-1][field] = rng.choice([0, -12, 1023, 1024, -1536, 5 << 20, 3 << 30, 12345678])
    all_self = sum(row["self_cpu_time_total_ns"] for row in rows)
    all_device = sum(row["self_device_time_total_ns"] for row in rows)
    for row in rows:
        if row["is_device"]:
            row["device_time_total_ns"] = row["self_device_time_total_ns"]
            continue
        row["cpu_time_total_ns"] = rng.randrange(row["self_cpu_time_total_ns"] // GRAIN, all_self // GRAIN + 1) * GRAIN
        if all_device:
            row["self_device_time_total_ns"] = rng.randrange(0, all_device // GRAIN + 1) * GRAIN
            row["device_time_total_ns"] = rng.randrange(row["self_device_time_total_ns"] // GRAIN, all_device // GRAIN + 1) * GRAIN
    return rows, features


def parse_shapes(text):
    return [[] if a in ("-", "s") else [int(n) for n in a.split("x")] for a in text.split(";")] if text else []


def torch_row(row):
    from torch.autograd import DeviceType
    from torch.autograd.profiler_util import FunctionEventAvg

    average = FunctionEventAvg()
    average.key, average.count, average.flops, average.node_id = row["key"], row["count"], row["flops"], row["node_id"]
    for field in ("cpu_time_total", "self_cpu_time_total", "device_time_total", "self_device_time_total"):
        setattr(average, field, row[field + "_ns"] / 1000)
    for field in ("cpu_memory_usage", "self_cpu_memory_usage", "device_memory_usage", "self_device_memory_usage", "overload_name"):
        setattr(average, field, row[field])
    average.is_async, average.is_user_annotation = bool(row["is_async"]), bool(row["is_user_annotation"])
    average.device_type = DeviceType.PrivateUse1 if row["is_device"] else DeviceType.CPU
    average.use_device = row["use_device"] or None
    average.cpu_parent = average if row["has_parent"] else None
    average.input_shapes = parse_shapes(row["input_shapes"]) if "input_shapes" in row else ""
    average.stack = row["stack"].split("|") if row["stack"] else []
    return average


@pytest.mark.parametrize("seed", range(100))
def test_rows(program, seed):
    from torch.autograd.profiler_util import EventList

    rng = random.Random(seed)
    rows, features = random_rows(rng)
    all_options = [table_options(rng) for _ in range(8)]
    lines = ["options" + "".join(f"\t{name}" for name in ("memory", "flops") if features[name])]
    lines += ["row" + settings(**row) for row in rows]
    lines += [table_line(options) for options in all_options]
    for options, ours in zip(all_options, our_tables(program, lines), strict=True):
        torch_list = EventList([torch_row(r) for r in rows], profile_memory=features["memory"], with_flops=features["flops"])
        assert_same(ours, torch_list.table(**options))


# Events


def event_lines(kind, track, start, duration, link, flags, name, shapes="", overload="", stack=(), **_):
    yield f"event\t{kind}\t{track}\t{start}\t{duration}\t{link}\t{flags}\t{escape(name)}"
    if shapes:
        yield f"shapes\t{shapes}"
    if overload:
        yield f"overload\t{overload}"
    if stack:
        yield "stack\t" + "\t".join(f"{file}\t{line}\t{function}" for file, line, function in stack)


class Description:
    """Events in a form that both sides can be made from."""

    def __init__(self, rng):
        self.rng = rng
        self.with_device, self.with_memory, self.with_stacks = (rng.random() < 0.5 for _ in range(3))
        self.with_flops = not self.with_stacks and rng.random() < 0.6
        self.threads = rng.randrange(1, 4)
        self.events, self.memory = [], []
        for thread in range(self.threads):
            self.grow(thread, rng.randrange(0, 50) * GRAIN, rng.randrange(1000, 40000) * GRAIN, 0)
        if self.with_device:
            self.launch_kernels()
        for event in self.events:
            if event["kind"] in (OP, SCOPE) and self.with_stacks:
                places = itertools.product(["train.py", "a/b/c/model.py"], range(1, 4), ["f", "g"])
                event["stack"] = rng.sample(list(places), rng.randrange(1, 4))
        if self.with_memory:
            self.allocate()

    def add(self, **event):
        event = {"link": 0, "flags": 0, "shapes": None, "overload": "", "stack": [], **event}
        self.events.append(event)
        return event

    def grow(self, thread, start, duration, depth):
        """A node and, inside it, others that do not overlap; now and then of its own name, of its own length, or of no length."""
        rng = self.rng
        kind = rng.choice([OP, OP, OP, SCOPE]) if depth else rng.choice([OP, STEP, SCOPE])
        name = f"ProfilerStep#{rng.randrange(3)}" if kind == STEP else rng.choice(NAMES)
        event = self.add(kind=kind, track=thread, start=start, duration=duration, name=name, flags=2 if rng.random() < 0.05 else 0)
        if kind == OP and rng.random() < 0.7:
            event["shapes"] = rng.choice(["2x3;3x4", "20x30;30x400", "s;-", "5", ""])
            event["overload"] = rng.choice(["", "out", "Tensor"])
        at = start
        for _ in range(rng.randrange(0, 4) if depth < 5 else 0):
            at += rng.choice([0, rng.randrange(0, 40) * GRAIN])
            left = start + duration - at
            if left <= 0:
                break
            length = rng.choice([left, 0, rng.randrange(0, left // GRAIN + 1) * GRAIN])
            self.grow(thread, at, length, depth + 1)
            at += length

    def launch_kernels(self):
        """Calls of no other duration than 0 at the end of leaves, and the kernels they start."""
        time = 0
        leaves = [e for e in self.events if e["kind"] == OP and e["duration"] > 0 and not e["flags"] and not self.children(e)]
        for correlation, op in enumerate(self.rng.sample(leaves, min(len(leaves), 6)), start=1):
            self.add(kind=RUNTIME, track=op["track"], start=op["start"], duration=GRAIN, name="aclrtLaunchKernel", link=correlation, op=op)
            time += self.rng.randrange(0, 50) * GRAIN
            duration = self.rng.randrange(0, 5000) * GRAIN
            name = self.rng.choice(["gemm", "copy"])
            self.add(kind=KERNEL, track=self.threads, start=time, duration=duration, name=name, link=correlation, op=op)
            time += duration

    def allocate(self):
        for _ in range(self.rng.randrange(0, 30)):
            time = self.rng.randrange(0, 50000) * GRAIN + 1  # never on an edge
            device = self.rng.choice(["cpu", "npu"]) if self.with_device else "cpu"
            self.memory.append((time, self.rng.randrange(self.threads), device, self.rng.randrange(-5000, 9000)))

    def children(self, event):
        end = event["start"] + event["duration"]
        return [
            e
            for e in self.events
            if e is not event and e["track"] == event["track"] and event["start"] <= e["start"] and e["start"] + e["duration"] <= end
        ]

    def lines(self):
        flags = ("npu" if self.with_device else "", "memory" if self.with_memory else "", "flops" if self.with_flops else "", "shapes")
        yield "options\t" + "\t".join(flags)
        yield from ["thread"] * self.threads
        if self.with_device:
            yield "stream"
        for e in self.events:
            yield from event_lines(**e)
        for time, thread, device, size in self.memory:
            yield f"memory\t{time}\t{thread}\t{device}\t{size}"


def flops_of(event):
    shapes = parse_shapes(event["shapes"] or "")
    if event["name"] != "aten::mm" or event["kind"] != OP or [len(s) for s in shapes[:2]] != [2, 2]:
        return 0
    return 2 * shapes[0][0] * shapes[0][1] * shapes[1][1]


def torch_events(description):
    """The list that torch makes of the same events: in order, tree built."""
    from torch.autograd import DeviceType
    from torch.autograd.profiler_util import EventList, FunctionEvent

    use_device = "npu" if description.with_device else None
    by_id, events = {}, []
    in_order = sorted(description.events, key=lambda e: (e["track"], e["start"], -e["duration"]))
    used = set()
    for number, e in enumerate(in_order):
        on_device = e["kind"] == KERNEL
        inside = [] if on_device or e["flags"] else [
            i for i, m in enumerate(description.memory) if m[1] == e["track"] and e["start"] <= m[0] <= e["start"] + e["duration"]
        ]  # fmt: skip
        used.update(inside)
        usage = {d: sum(description.memory[i][3] for i in inside if description.memory[i][2] == d) for d in ("cpu", "npu")}
        event = FunctionEvent(
            id=number,
            name="ProfilerStep*" if e["kind"] == STEP else e["name"],
            trace_name=e["name"],
            thread=0 if on_device else e["track"] + 1,
            start_us=e["start"] / 1000,
            end_us=(e["start"] + e["duration"]) / 1000,
            overload_name=e["overload"],
            input_shapes=parse_shapes(e["shapes"] or ""),
            stack=[f"{file}:{line}:{function}" for file, line, function in e["stack"]],
            scope={BACKWARD: 1, SCOPE: 7, STEP: 7}.get(e["kind"], 0),
            use_device=use_device,
            cpu_memory_usage=usage["cpu"],
            device_memory_usage=usage["npu"],
            is_async=bool(e["flags"]),
            device_type=DeviceType.PrivateUse1 if on_device else DeviceType.CPU,
            flops=flops_of(e) if description.with_flops else 0,
            is_user_annotation=e["kind"] in (SCOPE, STEP),
        )
        by_id[id(e)] = event
        events.append(event)
    for e in in_order:
        if e["kind"] == KERNEL:
            by_id[id(e["op"])].append_kernel(e["name"], 0, e["duration"] / 1000)
    for i, (time, thread, device, size) in enumerate(description.memory):
        if i not in used:
            usage = {"cpu_memory_usage" if device == "cpu" else "device_memory_usage": size}
            event = FunctionEvent(
                len(events), "[memory]", thread + 1, time / 1000, time / 1000, overload_name="", input_shapes=[], stack=[], flops=0, **usage
            )
            event.use_device = use_device
            events.append(event)
    events.sort(key=lambda event: [event.time_range.start, -event.time_range.end])
    result = EventList(events, use_device=use_device, profile_memory=description.with_memory, with_flops=description.with_flops)
    result._build_tree()
    return result


@pytest.mark.parametrize("seed", range(100))
def test_events(program, seed):
    rng = random.Random(seed)
    description = Description(rng)
    events = torch_events(description)
    cases = []
    for _ in range(6):
        options = table_options(rng)
        if rng.random() < 0.3:
            cases.append((events.table(**options), table_line(options, events=1), "events"))
            continue
        shapes, overloads = rng.random() < 0.4, rng.random() < 0.3
        stack_n = rng.choice([0, 1, 2, 5]) if description.with_stacks else 0
        averages = events.key_averages(group_by_input_shapes=shapes, group_by_stack_n=stack_n, group_by_overload_name=overloads)
        ours = {"group_by_input_shape": int(shapes), "group_by_stack_n": stack_n, "group_by_overload_name": int(overloads)}
        cases.append((averages.table(**options), table_line(options, **ours), "keys"))
    tables = our_tables(program, [*description.lines(), *(line for _, line, _ in cases)])
    for (torchs, _, noun), table in zip(cases, tables, strict=True):
        assert_same(table, torchs, noun)


# A recording of torch's own


class Scaled:
    """A raw event of torch's with times from the start of the trace, multiplied so that they are exact in binary microseconds."""

    def __init__(self, event, trace_start):
        self.event, self.trace_start = event, trace_start

    def start_ns(self):
        return (self.event.start_ns() - self.trace_start) * GRAIN

    def end_ns(self):
        return (self.event.end_ns() - self.trace_start) * GRAIN

    def __getattr__(self, name):
        return getattr(self.event, name)


def train(steps):
    import torch
    from torch.profiler import profile, record_function, schedule

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 10))
    optimizer = torch.optim.Adam(model.parameters())
    recorded = []
    plan = schedule(wait=0, warmup=1, active=steps)
    with profile(record_shapes=True, profile_memory=True, schedule=plan, on_trace_ready=recorded.append) as prof:
        for _ in range(steps + 1):
            with record_function("forward"):
                loss = model(torch.randn(2, 3, 8, 8)).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            prof.step()
    return recorded[0].profiler


def test_a_training_run_recorded_by_torch(program):
    from types import SimpleNamespace

    from torch.autograd.profiler_util import EventList

    profiler = train(steps=3)
    raw = profiler.kineto_results
    events = [Scaled(e, raw.trace_start_ns()) for e in raw.events()]
    parsed = profiler._parse_kineto_results(SimpleNamespace(events=lambda: events, trace_start_ns=lambda: 0))
    torch_list = EventList(parsed, profile_memory=True)
    torch_list._build_tree()

    tracks = {thread: track for track, thread in enumerate(sorted({e.start_thread_id() for e in events}))}
    lines = ["options\tmemory\tshapes", *["thread"] * len(tracks)]
    for e in events:
        track, start = tracks[e.start_thread_id()], e.start_ns()
        if e.name() == "[memory]":
            lines.append(f"memory\t{start}\t{track}\tcpu\t{e.nbytes()}")
            continue
        kind = BACKWARD if e.scope() == 1 else STEP if e.name().startswith("ProfilerStep#") else SCOPE if e.is_user_annotation() else OP
        shapes = ";".join("x".join(map(str, s)) or "s" for s in e.shapes())
        lines += event_lines(kind, track, start, e.end_ns() - start, 0, 2 * e.is_async(), e.name(), shapes)
    top = {"sort_by": "cpu_memory_usage", "top_level_events_only": True}
    for options in ({}, {"sort_by": "self_cpu_time_total", "row_limit": 10}, top):
        for by_shape in (False, True):
            ours = our_tables(program, [*lines, table_line(options, group_by_input_shape=int(by_shape))])[0]
            assert_same(ours, torch_list.key_averages(group_by_input_shapes=by_shape).table(**options))
        assert_same(our_tables(program, [*lines, table_line(options, events=1)])[0], torch_list.table(**options), "events")


def test_unknown_sort_key_has_torchs_text(program):
    from torch.autograd.profiler_util import EventList

    rows, _ = random_rows(random.Random(1))
    with pytest.raises(AttributeError) as error:
        EventList([torch_row(r) for r in rows]).table(sort_by="cuda_zz")
    assert our_tables(program, ["row" + settings(**r) for r in rows] + ["table\tsort_by=cuda_zz"]) == [f"error: {error.value}\n"]
