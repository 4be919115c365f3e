"""Sentences of the required behaviour that need more than one case: every creation function, every column, every kind of misuse."""

import itertools
import json
import threading

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import DeviceType, EventList, ProfilerActivity, _ExperimentalConfig, profile, record_function, schedule


def names(prof, kind="op"):
    return [event["name"] for event in prof.events() if event["kind"] == kind]


# Creation functions

CREATION = {
    "arange": (3.0,),
    "empty": (2,),
    "empty_like": (torch.ones(2),),
    "eye": (2,),
    "full": ((2,), 3.0),
    "full_like": (torch.ones(2), 3.0),
    "linspace": (0, 1, 3),
    "ones": (2,),
    "ones_like": (torch.ones(2),),
    "rand": (2,),
    "rand_like": (torch.ones(2),),
    "randn": (2,),
    "randn_like": (torch.ones(2),),
    "tensor": ([1.0],),
    "zeros": (2,),
    "zeros_like": (torch.ones(2),),
}


@pytest.mark.parametrize("name", CREATION)
def test_every_creation_function_takes_requires_grad(name):
    made = getattr(torch, name)(*CREATION[name], requires_grad=True)
    assert made.requires_grad and made.is_leaf
    made.sum().backward()
    assert made.grad.shape == made.shape


# Averages and table


def test_averages_are_added_up_only_when_asked_for(op):
    """A profile has no rows until key_averages() is called, and each call adds up what is there at that time."""
    with profile() as prof:
        op("aten::mul")
        assert len(prof.key_averages()) == 0
    first, second = prof.key_averages(), prof.key_averages()
    assert first[0] is not second[0] and (first[0].key, first[0].count) == (second[0].key, second[0].count)
    first[0].count = 99
    assert prof.key_averages()[0].count == 1


def test_rows_that_sort_equally_keep_their_order(op):
    with profile() as prof:
        for name in ("aten::c", "aten::a", "aten::b"):
            op(name)
    rows = EventList(prof.key_averages())
    for row in rows:
        row.self_cpu_time_total = 5
    keys = [line.split()[0] for line in rows.table(sort_by="self_cpu_time_total").splitlines() if line.strip().startswith("aten::")]
    assert keys == [row.key for row in rows] and len(keys) == 3


def test_the_table_has_torchs_columns(op):
    with profile() as prof:
        op("aten::mul")
    header = prof.key_averages().table().splitlines()[1]
    columns = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
    assert [part.strip() for part in header.split("  ") if part.strip()] == columns


# Shapes and memory


def test_shapes_of_tensors_that_the_user_passes_by_keyword_are_kept():
    x, y = torch.ones((2, 3)), torch.ones((1, 3))
    with profile(record_shapes=True) as prof:
        torch.mul(x, other=y)
        torch.mul(input=x, other=y)
        torch.cat(tensors=[x, y])
    assert [event["input_shapes"][:2] for event in prof.events()] == [[[2, 3], [1, 3]], [[2, 3], [1, 3]], [[[2, 3], [1, 3]], []]]


def test_memory_of_one_op_begins_where_that_of_the_one_before_ended():
    x = torch.ones((64, 64))
    with profile(profile_memory=True) as prof:
        kept = [x * x for _ in range(5)]
    events = list(prof.events())
    assert len(events) == len(kept)
    assert [event["cpu_memory_allocated_delta"] for event in events] == [64 * 64 * 4] * 5
    for one, next_one in itertools.pairwise(events):
        assert one["cpu_memory_allocated_after"] == next_one["cpu_memory_allocated_before"]


@pytest.mark.parametrize("suffix", [".html", ".json", ".json.gz", ".raw.json.gz"])
def test_a_memory_timeline_needs_no_device_named_and_its_suffix_chooses_the_format(suffix, tmp_path):
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        kept = torch.ones((256, 256)) * 2
    path = tmp_path / f"timeline{suffix}"
    prof.export_memory_timeline(path)
    start = {".html": b"<", ".json": b"["}.get(suffix, b"\x1f\x8b")
    assert path.read_bytes().lstrip().startswith(start) and kept.shape == (256, 256)


# Toggling


def test_scopes_too_are_recorded_only_while_the_cpu_is_on():
    with profile() as prof:
        for number, enable in enumerate([False, True, False, True]):
            prof.toggle_collection_dynamic(enable, [ProfilerActivity.CPU])
            with record_function(f"scope {number}"):
                pass
    assert names(prof, "scope") == ["scope 1", "scope 3"]


# Activities and device types


def test_every_activity_of_torch_exists():
    assert {activity.name for activity in ProfilerActivity} == {"CPU", "CUDA", "NPU", "XPU", "MTIA", "HPU"}


@pytest.mark.torch
def test_every_device_type_equals_torchs_member_of_that_number_and_no_other():
    from torch.profiler import DeviceType as Theirs

    for theirs in Theirs.__members__.values():
        assert [mine.name for mine in DeviceType if mine == theirs] == [DeviceType(theirs.value).name]


# Threads


def test_a_profile_of_one_thread_has_the_backward_pass_that_it_starts():
    x = torch.ones((2, 2), requires_grad=True)

    def elsewhere():
        torch.ones(2) - 1

    with profile(experimental_config=_ExperimentalConfig(profile_all_threads=False)) as prof:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        (x * x).sum().backward()
    assert "MulBackward0" in names(prof) and "aten::sub" not in names(prof)


# Callbacks


@pytest.mark.parametrize(("steps", "calls"), [(0, []), (1, []), (2, [2]), (3, [3]), (4, [3]), (5, [3, 5]), (6, [3, 6])])
def test_on_trace_ready_is_called_at_the_end_of_a_cycle_and_at_exit_only_while_recording(steps, calls):
    """One step of waiting, one of warming up, one recorded; the block ends after `steps` steps."""
    ready = []
    with profile(schedule=schedule(wait=1, warmup=1, active=1), on_trace_ready=lambda p: ready.append(p.step_num)) as prof:
        for _ in range(steps):
            prof.step()
    assert ready == calls


# Misuse


def test_a_session_of_another_thread_or_of_the_older_api_is_refused_too(op):
    import mindtorch_v2.autograd.profiler as older

    refused = []

    def start(make):
        try:
            make().__enter__()
        except RuntimeError as error:
            refused.append(str(error))

    with profile() as prof:
        op("aten::before")
        thread = threading.Thread(target=start, args=(profile,))
        thread.start()
        thread.join()
        start(older.profile)
        op("aten::after")
    assert len(refused) == 2 and all("another profiling session is active" in text for text in refused)
    assert names(prof) == ["aten::before", "aten::after"]


def test_a_wrong_call_while_recording_is_refused_and_loses_nothing(op, tmp_path):
    with profile() as prof:
        op("aten::before")
        for wrong in (
            prof.start,
            lambda: prof.export_chrome_trace(tmp_path / "trace.json"),
            lambda: prof.export_stacks(tmp_path / "stacks.txt"),
            lambda: prof.export_memory_timeline(tmp_path / "timeline.json"),
            lambda: prof.add_metadata("key", 1),
            lambda: prof.toggle_collection_dynamic(True, ["no such activity"]),
        ):
            with pytest.raises((RuntimeError, ValueError, AssertionError, AttributeError)):
                wrong()
        op("aten::after")
    assert names(prof) == ["aten::before", "aten::after"]
    assert list(tmp_path.iterdir()) == []


# Losses


def test_losses_are_in_the_trace_too(op, trace_of):
    with profile(experimental_config=_ExperimentalConfig(budget_bytes=1 << 20)) as prof:
        for _ in range(100_000):
            op("aten::mul")
    (lost,) = prof.losses()
    assert str(lost.count) in json.dumps({key: value for key, value in trace_of(prof).items() if key != "traceEvents"})
    assert prof.key_averages().to_dict()["losses"]
