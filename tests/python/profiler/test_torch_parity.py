"""The same small programs under torch.profiler and under ours: names, signatures, schedules, callbacks, tables, traces, errors."""

import ast
import contextlib
import gc
import importlib
import inspect
import itertools
import json
import random
import warnings

import mindtorch_v2 as ours
import mindtorch_v2.autograd.profiler_util
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

MODULES = ["profiler", "profiler.profiler", "autograd.profiler", "autograd.profiler_util", "profiler.itt"]


def both(path):
    """The module of torch and ours."""
    return importlib.import_module(f"torch.{path}"), importlib.import_module(f"mindtorch_v2.{path}")


# Names and signatures


@pytest.mark.parametrize("path", MODULES)
def test_every_public_name_of_torch_exists(path):
    theirs, mine = both(path)
    public = getattr(theirs, "__all__", [name for name in vars(theirs) if not name.startswith("_")])
    assert [name for name in public if not hasattr(mine, name)] == []


@pytest.mark.parametrize(
    "name", ["_KinetoProfile", "_ExperimentalConfig", "RecordScope", "_supported_activities", "KinetoStepTracker", "itt"]
)
def test_names_that_programs_use_though_they_are_not_listed_exist(name):
    assert hasattr(torch.profiler, name) and hasattr(ours.profiler, name)


@pytest.mark.parametrize(
    "path, name",
    [
        ("profiler", "ProfilerActivity"),
        ("profiler", "ProfilerAction"),
        ("profiler", "DeviceType"),
        ("profiler", "RecordScope"),
        ("autograd", "ProfilerState"),
    ],
)
def test_enums_have_torchs_members_and_numbers(path, name):
    theirs, mine = (getattr(module, name) for module in both(path))
    for member in theirs.__members__.values():
        assert mine.__members__[member.name].value == member.value
        assert mine.__members__[member.name] == member
    first, second = itertools.islice(theirs.__members__.values(), 2)
    assert mine.__members__[first.name] != second


def parameters(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


CALLABLES = {
    "profiler": ["profile", "schedule", "tensorboard_trace_handler", "supported_activities", "_KinetoProfile"],
    "profiler.itt": ["is_available", "range_push", "range_pop", "mark", "range"],
    "autograd.profiler": ["profile", "emit_itt", "emit_nvtx", "load_nvprof", "parse_nvprof_trace", "EnforceUnique", "record_function"],
    "autograd.profiler_util": ["Interval", "MemRecordsAcc", "FunctionEvent"],
}


@pytest.mark.parametrize("path, name", [(path, name) for path, names in CALLABLES.items() for name in names])
def test_calls_have_torchs_arguments_and_defaults(path, name):
    theirs, mine = (getattr(module, name) for module in both(path))
    assert parameters(mine) == parameters(theirs)


METHODS = [
    ("profiler", "profile"),
    ("profiler", "_KinetoProfile"),
    ("autograd.profiler", "profile"),
    ("autograd.profiler_util", "EventList"),
    ("autograd.profiler", "KinetoStepTracker"),
    ("autograd.profiler", "EnforceUnique"),
    ("profiler", "ExecutionTraceObserver"),
]


@pytest.mark.parametrize("path, name", METHODS)
def test_methods_have_torchs_arguments_and_defaults(path, name):
    theirs, mine = (getattr(module, name) for module in both(path))
    for method, function in inspect.getmembers(theirs, inspect.isroutine):
        if method.startswith("_") or method in vars(list):
            continue
        assert hasattr(mine, method), method
        assert parameters(getattr(mine, method)) == parameters(function), method


def test_the_config_has_torchs_options_in_torchs_order():
    documented = torch.profiler._ExperimentalConfig.__init__.__doc__.split("->")[0]
    expected = [part.split(":")[0].strip() for part in documented.split("(self: ")[1].split(", ")[1:]]
    mine = [name for name, kind, _ in parameters(ours.profiler._ExperimentalConfig) if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    assert mine == expected
    for part in documented.split("(self: ")[1].split(", ")[1:]:
        name, default = part.split(":")[0], part.split(" = ")[1].rstrip(" )")
        if name != "profile_all_threads":  # all threads are recorded here
            assert getattr(ours.profiler._ExperimentalConfig(), name) == ast.literal_eval(default), name


def test_torchs_own_enums_and_config_are_accepted():
    config = torch.profiler._ExperimentalConfig(verbose=True, trace_only=False)
    prof = ours.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=0, warmup=1, active=1),
        experimental_config=config,
    )
    assert prof.current_action == torch.profiler.ProfilerAction.WARMUP
    assert torch.profiler.ProfilerActivity.CPU in prof.activities


# An option each, whether torch's own object says it or ours: the same warnings.
OPTIONS = {
    "profiler_metrics": ["cycles"],
    "profiler_measure_per_kernel": True,
    "verbose": True,
    "performance_events": ["cycles"],
    "enable_cuda_sync_events": True,
    "adjust_profiler_step": True,
    "disable_external_correlation": True,
    "profile_all_threads": True,
    "capture_overload_names": True,
    "record_python_gc_info": True,
    "expose_kineto_event_metadata": True,
    "custom_profiler_config": "x",
    "adjust_timestamps": True,
    "trace_only": True,
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_torchs_own_config_does_what_ours_does(name):
    from mindtorch_v2.profiler._config import as_ours

    option = {name: OPTIONS[name]}
    assert as_ours(torch.profiler._ExperimentalConfig(**option)) == ours.profiler._ExperimentalConfig(**option)
    told = []
    for module in (torch.profiler, ours.profiler):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            prof = ours.profiler.profile(experimental_config=module._ExperimentalConfig(**option))
        told.append([str(warning.message) for warning in caught if "PyTorch is imported" not in str(warning.message)])
        assert type(prof.experimental_config) is module._ExperimentalConfig
    assert told[0] == told[1]


def test_torchs_own_config_is_honoured():
    with ours.profiler.profile(experimental_config=torch.profiler._ExperimentalConfig(record_python_gc_info=True)) as prof:
        gc.collect()
    assert "Python GC" in [event.name for event in prof.events()]
    with ours.profiler.profile(experimental_config=torch.profiler._ExperimentalConfig(trace_only=True)) as prof:
        pass
    with pytest.raises(RuntimeError, match="trace_only=True"):
        prof.events()
    prof = ours.profiler.profile(with_stack=True, experimental_config=torch.profiler._ExperimentalConfig(trace_only=True))
    assert prof.experimental_config.trace_only is False and type(prof.experimental_config) is torch.profiler._ExperimentalConfig


@pytest.mark.parametrize("name", ["ProfilerActivity", "DeviceType", "RecordScope"])
def test_torchs_members_say_no_to_whatever_is_on_their_right(name):
    """pybind11's == never asks the other side, so ours must be on the left (docs/profiler.md)."""

    class EqualToAll:
        def __eq__(self, other):
            return True

    theirs, mine = (next(iter(getattr(module.profiler, name).__members__.values())) for module in (torch, ours))
    assert mine == theirs and theirs in [mine]
    assert not theirs == EqualToAll() and not theirs == mine  # noqa: SIM201
    assert ours.profiler.ProfilerAction.RECORD == torch.profiler.ProfilerAction.RECORD == ours.profiler.ProfilerAction.RECORD


# Schedules and callbacks


def schedules():
    for wait, warmup, active, repeat, skip_first, skip_first_wait in itertools.product(
        (0, 1, 3), (0, 1, 2), (1, 2, 4), (0, 1, 2), (0, 3), (0, 1)
    ):
        yield {
            "wait": wait,
            "warmup": warmup,
            "active": active,
            "repeat": repeat,
            "skip_first": skip_first,
            "skip_first_wait": skip_first_wait,
        }


def test_schedules_say_what_torchs_say():
    for numbers in schedules():
        theirs, mine = torch.profiler.schedule(**numbers), ours.profiler.schedule(**numbers)
        assert [mine(step).name for step in range(50)] == [theirs(step).name for step in range(50)], numbers


class Log:
    """What a profile was seen to do, step by step."""

    def __init__(self, module, actions):
        self.entries = []
        names = [module.ProfilerAction[action] for action in actions]
        observer = type("Observer", (), {name: self.note(name) for name in ("start", "stop", "cleanup")})()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with module.profile(
                activities=[module.ProfilerActivity.CPU],
                schedule=lambda step: names[min(step, len(names) - 1)],
                on_trace_ready=lambda prof: self.entries.append(("ready", prof.step_num, prof.current_action.name)),
                execution_trace_observer=observer,
            ) as prof:
                for _ in names[1:]:
                    prof.step()
                    self.entries.append(("step", prof.step_num, prof.current_action.name))
        self.warnings = sorted(str(warning.message) for warning in caught if "Incorrect schedule" in str(warning.message))

    def note(self, name):
        return lambda _: self.entries.append((name,))


# What may follow an action without torch going astray: it crashes where a trace is stopped that was never prepared.
FOLLOWERS = {
    "NONE": ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"],
    "WARMUP": ["WARMUP", "RECORD", "RECORD_AND_SAVE"],
    "RECORD": ["RECORD", "RECORD_AND_SAVE", "NONE"],
    "RECORD_AND_SAVE": ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"],
}


def test_traces_start_stop_and_are_ready_when_torchs_are():
    generator = random.Random(7)
    for _ in range(20):
        actions = [generator.choice(list(FOLLOWERS))]
        for _ in range(12):
            actions.append(generator.choice(FOLLOWERS[actions[-1]]))
        mine, theirs = Log(ours.profiler, actions), Log(torch.profiler, actions)
        assert mine.entries == theirs.entries, actions
        assert mine.warnings == theirs.warnings, actions


@pytest.mark.parametrize("acc_events", [False, True])
@pytest.mark.parametrize("numbers", [(0, 1, 1, 1), (0, 1, 5, 0), (1, 2, 2, 4), (0, 0, 1, 0)])
def test_as_many_events_are_kept_over_cycles_as_torch_keeps(numbers, acc_events):
    def count(module, record_function):
        wait, warmup, active, repeat = numbers
        plan = module.schedule(wait=wait, warmup=warmup, active=active, repeat=repeat)
        with module.profile(activities=[module.ProfilerActivity.CPU], schedule=plan, acc_events=acc_events) as prof:
            for _ in range(23):
                with record_function("counted"):
                    pass
                prof.step()
        return sum(row.count for row in prof.key_averages() if row.key == "counted")

    assert count(ours.profiler, ours.profiler.record_function) == count(torch.profiler, torch.profiler.record_function)


# Tables


@pytest.fixture(scope="module")
def training():
    """torch's profile of a small training program, with everything recorded."""
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_flops=True,
        experimental_config=torch.profiler._ExperimentalConfig(verbose=True),
    ) as prof:
        for _ in range(2):
            with torch.profiler.record_function("a scope with a rather long name that has to be cut somewhere"):
                model(torch.ones(2, 1, 8, 8)).sum().backward()
            optimizer.step()
    return prof


FIELDS = """key count node_id is_async is_remote use_device cpu_time_total device_time_total self_cpu_time_total self_device_time_total
input_shapes overload_name scope cpu_memory_usage device_memory_usage self_cpu_memory_usage self_device_memory_usage device_type
is_legacy is_user_annotation""".split()


TIMES = [field for field in FIELDS if "_time_" in field]


def whole_nanoseconds(rows):
    """torch adds up microseconds as floats; without their rounding errors both have equal data."""
    for row in rows:
        for field in TIMES:
            setattr(row, field, round(getattr(row, field), 3))
    return rows


def as_ours(rows, profile_memory, with_flops, with_stack):
    """The rows of torch's list as rows of ours."""
    made = []
    for row in rows:
        twin = ours.autograd.profiler_util.FunctionEventAvg()
        for field in FIELDS:
            setattr(twin, field, getattr(row, field))
        twin.flops = row.flops or 0
        twin.stack = row.stack if with_stack else []
        made.append(twin)
    return ours.autograd.profiler_util.EventList(made, profile_memory=profile_memory, with_flops=with_flops)


@pytest.mark.parametrize("profile_memory", [False, True])
@pytest.mark.parametrize("group", [{}, {"group_by_input_shape": True}, {"group_by_stack_n": 4}, {"group_by_overload_name": True}])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sort_by": "self_cpu_time_total", "row_limit": 10},
        {"sort_by": "cpu_memory_usage", "header": "a header"},
        {"sort_by": "count", "row_limit": -1, "max_name_column_width": 20, "max_shapes_column_width": 30, "max_src_column_width": 40},
        {"row_limit": 0},
        {"time_unit": "ms", "max_name_column_width": None},
    ],
)
def test_the_table_of_equal_data_is_torchs_byte_for_byte_and_one_more_line(training, options, group, profile_memory, at_most_100):
    rows = whole_nanoseconds(training.key_averages(**group))
    rows._profile_memory, rows._with_flops = profile_memory, False
    mine = as_ours(rows, profile_memory, False, "group_by_stack_n" in group).table(**options)
    *same, last, end = mine.split("\n")
    assert "\n".join(same) + "\n" == at_most_100(rows.table(**options))
    assert last.startswith(f"Total keys: {len(rows)}  Count: ") and end == ""


def test_the_table_with_flops_is_torchs(training, at_most_100):
    rows = whole_nanoseconds(training.key_averages())
    mine = as_ours(rows, False, True, False)
    rows._profile_memory = False
    assert mine.table(sort_by="flops").split("\n")[:-2] == at_most_100(rows.table(sort_by="flops")).split("\n")[:-1]


def test_rows_print_as_torchs(training):
    rows = whole_nanoseconds(training.key_averages(group_by_input_shape=True))
    mine = as_ours(rows, False, False, False)
    assert [repr(row) for row in mine] == [repr(row) for row in rows]
    theirs, total = rows.total_average(), mine.total_average()
    assert (total.key, total.count, total.flops) == (theirs.key, theirs.count, theirs.flops)
    assert total.self_cpu_time_total == pytest.approx(theirs.self_cpu_time_total)


@pytest.mark.parametrize(
    "name, values",
    [("_format_time", (0, 0.5, 999.9996, 1000, 1e6, 3.25e9)), ("_format_memory", (0, -1, 1023, 1024, -5 << 20, 3 << 30))],
)
def test_times_and_sizes_are_written_as_torch_writes_them(name, values):
    theirs, mine = (getattr(module, name) for module in both("autograd.profiler_util"))
    assert [mine(value) for value in values] == [theirs(value) for value in values]


def test_a_fresh_row_is_as_empty_as_torchs():
    theirs, mine = (module.FunctionEventAvg() for module in both("autograd.profiler_util"))
    for name in public(theirs) - {"add"}:
        assert getattr(mine, name) == getattr(theirs, name), name
    assert repr(mine) == repr(theirs)


# Attributes


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_events_rows_lists_and_profiles_have_torchs_attributes(training):
    with ours.profiler.profile() as prof, ours.profiler.record_function("scope"):
        pass
    assert public(training.events()[0]) <= public(prof.events()[0])
    assert public(training.key_averages()[0]) <= public(prof.key_averages()[0])
    assert public(training.events()) <= public(prof.events())
    assert public(training) <= public(prof)


def small_training(module, **options):
    x = module.ones((2, 2), requires_grad=True)
    with module.profiler.profile(activities=[module.profiler.ProfilerActivity.CPU], **options) as prof:
        (x * x).sum().backward()
    return prof


def arrows(prof):
    """From the name of a forward op to that of its backward node."""
    ends = {(event.flow_id, event.flow_start): event.name for event in prof.events() if event.flow_type == 1}
    return {name: ends[number, False] for (number, starts), name in ends.items() if starts}


def test_events_know_the_arrows_that_torchs_know():
    theirs, mine = small_training(torch), small_training(ours)
    assert arrows(mine) == arrows(theirs) == {"aten::mul": "MulBackward0", "aten::sum": "SumBackward0"}
    (without,) = {(event.flow_id, event.flow_start) for event in mine.events() if event.flow_type == 0}
    assert without in {(event.flow_id, event.flow_start) for event in theirs.events() if event.flow_type == 0}


def said_of(event):
    names = ("scope", "activity_type", "is_user_annotation", "is_python_function", "is_async", "is_remote", "is_legacy", "node_id", "count")
    # Numbers of calls and threads depend on what the process did before.
    return {**{name: getattr(event, name) for name in names}, "has": (event.sequence_nr >= 0, event.fwd_thread > 0, event.thread > 0)}


def test_events_of_a_program_say_what_torchs_say():
    """Of the ops that both record; torch has more of them inside others."""
    theirs, mine = (
        {event.name: said_of(event) for event in small_training(module, record_shapes=True).events()} for module in (torch, ours)
    )
    common = theirs.keys() & mine.keys()
    assert {"aten::mul", "aten::sum", "MulBackward0", "torch::autograd::AccumulateGrad"} <= common
    for name in common - {"aten::ones_like"}:  # torch's engine makes the first gradient without recording its derivative
        assert mine[name] == theirs[name], name


def test_raw_events_have_torchs_methods():
    theirs, mine = (small_training(module, record_shapes=True).profiler.kineto_results for module in (torch, ours))
    assert public(theirs) <= public(mine)
    first, twin = theirs.events()[0], mine.events()[0]
    assert public(first) <= public(twin)
    for name in public(first):
        assert type(getattr(twin, name)()).__name__ == type(getattr(first, name)()).__name__, name


def values_of(prof):
    """What a profile says about itself before it has run."""
    names = """record_shapes profile_memory with_stack with_flops with_modules experimental_config execution_trace_observer acc_events
    custom_trace_id_callback post_processing_timeout_s profiler has_cudagraphs mem_tl use_device preset_metadata record_steps on_trace_ready
    step_num step_rec_fn activity_filters""".split()
    values = {name: getattr(prof, name) for name in names}
    values["activities"] = sorted(activity.name for activity in prof.activities)
    values["actions"] = [prof.current_action.name, *(prof.schedule(step).name for step in range(3))]
    return values


@pytest.mark.parametrize(
    "options", [{}, {"record_shapes": True, "post_processing_timeout_s": 3.5}, {"with_flops": True, "acc_events": True}]
)
def test_a_fresh_profile_says_what_torchs_says(options):
    made = [module.profile(activities=[module.ProfilerActivity.CPU], **options) for module in (torch.profiler, ours.profiler)]
    assert values_of(made[1]) == values_of(made[0])
    assert [prof.get_trace_id() for prof in made] == [None, None]


def test_the_steps_of_a_profile_are_counted_for_a_daemon(run_program):
    text = """
import torch, mindtorch_v2, warnings
warnings.simplefilter("ignore")
for module in (torch.profiler, mindtorch_v2.profiler):
    before = module.KinetoStepTracker.current_step()
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        for _ in range(8):
            prof.step()
    print("steps", module.KinetoStepTracker.current_step() - before)
"""

    def counted(**environment):
        return [line for line in run_program(text, **environment).splitlines() if line.startswith("steps")]

    assert counted(KINETO_USE_DAEMON="") == ["steps 0"] * 2
    # libkineto would look for its daemon at import: only ours is asked.
    assert counted(KINETO_USE_DAEMON="1")[-1] == "steps 8"


# Traces


def export(module, program, path, **options):
    with module.profile(activities=[module.ProfilerActivity.CPU], **options) as prof:
        program()
    prof.export_chrome_trace(str(path))
    return json.loads(path.read_text())


def keys_by_category(trace):
    keys = {}
    for event in trace["traceEvents"]:
        fields, args = keys.setdefault(event.get("cat", event["ph"]), (set(), set()))
        fields.update(event)
        args.update(event.get("args", {}))
    return keys


@pytest.mark.parametrize("options", [{}, {"record_shapes": True}])
def test_traces_have_torchs_keys(options, tmp_path):
    def program(module, record_function):
        x = module.ones((4, 4), requires_grad=True)
        with record_function("scope"):
            (x * x).sum().backward()

    theirs = export(torch.profiler, lambda: program(torch, torch.profiler.record_function), tmp_path / "theirs.json", **options)
    mine = export(ours.profiler, lambda: program(ours, ours.profiler.record_function), tmp_path / "mine.json", **options)
    assert set(theirs) <= set(mine) and theirs["host_name"] == mine["host_name"]
    for category in ("cpu_op", "user_annotation", "fwdbwd"):
        fields, args = keys_by_category(theirs)[category]
        my_fields, my_args = keys_by_category(mine)[category]
        assert fields <= my_fields and args <= my_args, category


def test_rows_of_a_program_are_grouped_as_torchs(training):
    """Counts of names, of torch's ops recorded by both at once, if our bridge to torch is there."""
    bridge = pytest.importorskip("mindtorch_v2.torch_bridge")
    with contextlib.suppress(Exception):
        bridge.activate_if_possible()
    if "torch" not in ours.profiler.status().hosts:
        pytest.skip("PyTorch is not a host in this build")

    def program():
        x = torch.ones((4, 4), requires_grad=True)
        (x * x).sum().backward()

    counts = []
    for module in (torch.profiler, ours.profiler):
        with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
            program()
        counts.append({row.key: row.count for row in prof.key_averages()})
    assert counts[0] == counts[1]


def test_the_job_of_a_process_is_in_the_trace(run_program, tmp_path):
    text = f"""
import json, torch, mindtorch_v2
jobs = []
for module in (torch.profiler, mindtorch_v2.profiler):
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof, module.record_function("scope"):
        pass
    prof.export_chrome_trace({str(tmp_path / "trace.json")!r})
    with open({str(tmp_path / "trace.json")!r}) as file:
        jobs.append({{key: value for key, value in json.load(file).items() if key.startswith(("PT_", "host"))}})
assert jobs[0] == jobs[1] and len(jobs[0]) == 4, jobs
"""
    run_program(text, PT_PROFILER_JOB_NAME="job", PT_PROFILER_JOB_VERSION="3", PT_PROFILER_JOB_ATTEMPT_INDEX="1")


def test_the_rank_of_a_process_of_torch_distributed_is_in_the_trace(run_program, tmp_path):
    text = f"""
import json, os, torch
import mindtorch_v2
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29512")
torch.distributed.init_process_group("gloo", rank=0, world_size=1)
info = []
for module in (torch.profiler, mindtorch_v2.profiler):
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof, module.record_function("scope"):
        pass
    prof.export_chrome_trace({str(tmp_path / "trace.json")!r})
    with open({str(tmp_path / "trace.json")!r}) as file:
        info.append(json.load(file)["distributedInfo"])
assert info[0] == info[1], info
"""
    run_program(text)
