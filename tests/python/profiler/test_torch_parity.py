"""The same small programs under torch.profiler and under ours: names, signatures, schedules, callbacks, tables, traces, errors."""

import ast
import contextlib
import importlib
import inspect
import itertools
import json
import random
import re
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


@pytest.mark.parametrize("name", ["ProfilerActivity", "ProfilerAction", "DeviceType", "RecordScope"])
def test_enums_have_torchs_members_and_numbers(name):
    theirs, mine = getattr(torch.profiler, name), getattr(ours.profiler, name)
    for member in theirs.__members__.values():
        assert mine.__members__[member.name].value == member.value
        assert mine.__members__[member.name] == member
    first, second = itertools.islice(theirs.__members__.values(), 2)
    assert mine.__members__[first.name] != second


def parameters(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


CALLABLES = {
    "profiler": ["profile", "schedule", "tensorboard_trace_handler", "supported_activities", "_KinetoProfile"],
    "autograd.profiler": ["profile", "emit_itt", "emit_nvtx", "load_nvprof", "EnforceUnique", "record_function"],
    "autograd.profiler_util": ["Interval", "MemRecordsAcc"],
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
]


@pytest.mark.parametrize("path, name", METHODS)
def test_methods_have_torchs_arguments_and_defaults(path, name):
    theirs, mine = (getattr(module, name) for module in both(path))
    for method, function in inspect.getmembers(theirs, inspect.isroutine):
        if method.startswith("_") or method in vars(list):
            continue
        if (path, name, method) in NOT_METHODS:
            continue
        assert hasattr(mine, method), method
        assert parameters(getattr(mine, method)) == parameters(function), method


# What torch's C++ side needs to be told; there is no such side here.
NOT_METHODS = {("autograd.profiler", "profile", name) for name in ("config", "create_trace_id", "default_trace_id")}


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


def at_most_100(table):
    """torch counts a call inside a call of the same name twice; a share above 100 % says nothing."""
    return re.sub(r"\d+\.\d\d%", lambda share: share[0] if float(share[0][:-1]) <= 100 else "100.00%".rjust(len(share[0])), table)


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
def test_the_table_of_equal_data_is_torchs_byte_for_byte_and_one_more_line(training, options, group, profile_memory):
    rows = whole_nanoseconds(training.key_averages(**group))
    rows._profile_memory, rows._with_flops = profile_memory, False
    mine = as_ours(rows, profile_memory, False, "group_by_stack_n" in group).table(**options)
    *same, last, end = mine.split("\n")
    assert "\n".join(same) + "\n" == at_most_100(rows.table(**options))
    assert last.startswith(f"Total keys: {len(rows)}  Count: ") and end == ""


def test_the_table_with_flops_is_torchs(training):
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


# Attributes


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_events_rows_lists_and_profiles_have_torchs_attributes(training):
    with ours.profiler.profile() as prof, ours.profiler.record_function("scope"):
        pass
    # An event is what was recorded: nothing can be hung on it afterwards.
    changes = {"append_cpu_child", "append_kernel", "set_cpu_parent"}
    assert public(training.events()[0]) - changes <= public(prof.events()[0])
    assert public(training.key_averages()[0]) <= public(prof.key_averages()[0])
    assert public(training.events()) <= public(prof.events())
    assert public(training) <= public(prof)


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
    assert set(theirs) - set(mine) <= {"host_name"}
    for category in ("cpu_op", "user_annotation", "fwdbwd"):
        fields, args = keys_by_category(theirs)[category]
        my_fields, my_args = keys_by_category(mine)[category]
        assert fields <= my_fields and args <= my_args, category


# Errors


def outcome(call):
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    return None


def finished(module):
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof:
        pass
    return prof


WRONG_CALLS = {
    "no activities": lambda m: m.profile(activities=[]),
    "an activity twice": lambda m: m.profile(activities=[m.ProfilerActivity.CPU, m.ProfilerActivity.CPU]),
    "bad schedule": lambda m: m.schedule(wait=-1, warmup=0, active=1),
    "negative step": lambda m: m.schedule(wait=0, warmup=1, active=1)(-1),
    "DEVICE_STOPPED": lambda m: m.profile(schedule=lambda step: m.ProfilerAction.DEVICE_STOPPED),
    "events before start": lambda m: m.profile().events(),
    "averages before start": lambda m: m.profile().key_averages(),
    "export before start": lambda m: m.profile().export_chrome_trace("x"),
    "stacks before start": lambda m: m.profile().export_stacks("x"),
    "stop before start": lambda m: m.profile().stop(),
    "start_trace before prepare": lambda m: m._KinetoProfile().start_trace(),
    "stop_trace before prepare": lambda m: m._KinetoProfile().stop_trace(),
    "stacks without with_stack": lambda m: finished(m).export_stacks("x"),
    "unknown metric": lambda m: finished(m).events().export_stacks("x", "zz"),
    "memory timeline": lambda m: finished(m).export_memory_timeline("x"),
    "metadata that is no string": lambda m: finished(m).add_metadata("key", 3),
    "unknown keyword": lambda m: m.profile(no_such_argument=1),
    "positional argument": lambda m: m.profile([]),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
def test_wrong_calls_fail_as_torchs_do(name):
    theirs, mine = outcome(lambda: WRONG_CALLS[name](torch.profiler)), outcome(lambda: WRONG_CALLS[name](ours.profiler))
    assert theirs is not None and mine is not None
    assert issubclass(mine[0], theirs[0])
    assert mine[1] == theirs[1]


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
