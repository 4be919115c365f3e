"""The same small programs under torch.profiler and under ours: what events, rows, profiles and traces say."""

import contextlib
import json

import mindtorch_v2 as ours
import mindtorch_v2.autograd.profiler_util
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

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


def test_a_fresh_row_is_as_empty_as_torchs():
    theirs, mine = (module.autograd.profiler_util.FunctionEventAvg() for module in (torch, ours))
    for name in public(theirs) - {"add"}:
        assert getattr(mine, name) == getattr(theirs, name), name
    assert repr(mine) == repr(theirs)


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
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29512", LOCAL_RANK="3")
torch.distributed.init_process_group("gloo", rank=0, world_size=1)
info = []
for module in (torch.profiler, mindtorch_v2.profiler):
    with module.profile(activities=[module.ProfilerActivity.CPU]) as prof, module.record_function("scope"):
        pass
    prof.export_chrome_trace({str(tmp_path / "trace.json")!r})
    with open({str(tmp_path / "trace.json")!r}) as file:
        info.append(json.load(file)["distributedInfo"])
ours = info[1]
# What `mtprof ranks` tells the groups of Gloo apart by comes on top, and the local rank.
assert ours.pop("local_rank") == 3
assert ours.pop("collectives_until_ns") > 0
assert [group.pop("collectives") for group in ours["pg_config"]] == [0]
assert info[0] == ours, info
"""
    run_program(text)
