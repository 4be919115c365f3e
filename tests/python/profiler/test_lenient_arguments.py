"""Arguments that programs take from command lines, files and arrays: what torch takes as a flag or a number is one here too."""

import argparse

import pytest
from mindtorch_v2.profiler import ProfilerAction, profile, record_function, schedule

numpy = pytest.importorskip("numpy")

FLAGS = "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules", "acc_events"


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("value", [0, 1, 2, numpy.True_, numpy.False_, None, "yes", ""])
def test_a_flag_may_be_any_value(flag, value):
    assert getattr(profile(**{flag: value}), flag) is bool(value)


def test_options_of_a_command_line_are_flags():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shapes", type=int, default=0)
    assert profile(record_shapes=parser.parse_args(["--shapes", "1"]).shapes).record_shapes is True


def rows(table):
    return sum(name in table for name in ("outer", "aten::mul", "aten::add", "aten::mm"))


@pytest.fixture
def events(op):
    with profile(record_shapes=True) as prof, record_function("outer"):
        for name in ("aten::mul", "aten::add", "aten::mm"):
            op(name)
    return prof.events()


@pytest.mark.parametrize(
    ("limit", "shown"),
    [(2, 2), (2.0, 2), (numpy.int64(2), 2), (1 << 80, 4), (0, 0), (None, 4), (-1, 4), (2.5, 4), (float("inf"), 4), (float("nan"), 4)],
)
def test_a_limit_of_rows_is_a_number_that_counting_reaches_or_none(events, limit, shown):
    table = events.key_averages().table(row_limit=limit)
    assert rows(table) == shown


@pytest.mark.parametrize("value", [1, None, numpy.True_])
def test_a_table_of_top_level_events_and_groups_take_any_flag(events, value):
    assert rows(events.table(top_level_events_only=value)) == (1 if value else 4)
    assert len(events.key_averages(group_by_input_shapes=value, group_by_overload_name=value)) == 4


def test_a_schedule_counts_steps_that_are_given_as_other_numbers():
    usual = schedule(wait=1, warmup=1, active=2, repeat=1)
    other = schedule(wait=1.0, warmup=True, active=numpy.int32(2), repeat=1.0)
    assert [usual(step) for step in range(8)] == [other(step) for step in range(8)]


@pytest.mark.parametrize("active", [float("inf"), 1 << 80])
def test_a_schedule_may_record_without_end(active):
    endless = schedule(wait=1, warmup=1, active=active)
    assert [endless(step) for step in (0, 1, 2, 10**9)] == [
        ProfilerAction.NONE,
        ProfilerAction.WARMUP,
        ProfilerAction.RECORD,
        ProfilerAction.RECORD,
    ]


@pytest.mark.parametrize("wrong", [1.5, "1", None])
def test_a_schedule_refuses_what_is_no_number_of_steps(wrong):
    with pytest.raises((TypeError, ValueError, AssertionError)):
        schedule(wait=wrong, warmup=1, active=1)
