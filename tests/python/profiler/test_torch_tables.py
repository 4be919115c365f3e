"""Equal rows as torch's tables and as ours."""

import mindtorch_v2 as ours
import mindtorch_v2.autograd.profiler_util
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

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
    theirs, mine = (getattr(module.autograd.profiler_util, name) for module in (torch, ours))
    assert [mine(value) for value in values] == [theirs(value) for value in values]
