"""The table: columns, order, limits, units and the last line."""

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.autograd.profiler_util import EventList
from mindtorch_v2.profiler import profile, record_function
from profiles import record_ops, train


def test_the_table_is_sorted_by_an_attribute_largest_first(prof):
    lines = prof.key_averages().table(sort_by="count").splitlines()
    assert lines[3].split()[0] == "aten::mul"


# Rule: table.sort
def test_an_unknown_attribute_to_sort_by_is_refused(prof):
    with pytest.raises(AttributeError, match="^'FunctionEventAvg' object has no attribute 'zz'$"):
        prof.key_averages().table(sort_by="zz")
    with pytest.raises(AttributeError, match="^'FunctionEvent' object has no attribute 'zz'$"):
        prof.events().table(sort_by="zz")


@pytest.mark.parametrize("limit, rows", [(0, 0), (1, 1), (-1, 3), (None, 3), (100, 3)])
def test_the_table_shows_as_many_rows_as_asked(prof, limit, rows):
    table = prof.key_averages().table(row_limit=limit)
    assert sum(name in table for name in ("outer", "aten::mul", "aten::add")) == rows


def test_the_table_can_show_top_level_events_only(prof):
    table = prof.key_averages().table(top_level_events_only=True)
    assert "outer" in table and "aten::mul" not in table and "This report only display top-level ops statistics" in table


def test_widths_and_units_of_a_table_can_be_chosen(prof):
    table = prof.key_averages().table(max_name_column_width=8, time_unit="s", header="the header")
    assert "aten:..." in table and "the header" in table
    assert not [word for word in table.split() if word.endswith(("us", "ms")) and word[0].isdigit()]


# Rule: table.text


def test_the_table_is_deterministic_and_has_its_words():
    with profile() as prof:
        train()
    table = prof.key_averages().table(sort_by="self_cpu_time_total")
    assert all(word in table for word in ("Name", "Count", "Total", "# of Calls"))
    assert prof.key_averages().table(sort_by="self_cpu_time_total") == table


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


# Rule: table.last_line


def test_the_table_ends_with_a_line_about_totals(op):
    assert record_ops(op).key_averages().table().splitlines()[-1].startswith("Total keys: 1  Count: 3 calls  Lost: 0 events")


# Rule: table.shares


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
