"""What programs of the original Python implementation rely on, where torch says nothing."""

import pytest
from mindtorch_v2.profiler import profile, record_function

# on_trace_ready


def test_the_first_of_a_tuple_of_callbacks_is_called(op):
    called = []
    with profile(on_trace_ready=(called.append, None)) as prof:
        op("aten::mul")
    assert called == [prof]


def test_the_callback_is_called_when_the_block_raised(op):
    called = []
    with pytest.raises(KeyError), profile(on_trace_ready=called.append) as prof:
        op("aten::mul")
        raise KeyError
    assert called == [prof] and len(prof.events()) == 1


# What an op says about its run


def test_ops_have_unique_growing_correlation_ids_and_scopes_have_none(op, trace_of):
    with profile() as prof, record_function("scope"):
        for _ in range(5):
            op("aten::mul")
    scope, *ops = prof.events()
    numbers = [event["correlation_id"] for event in ops]
    assert numbers == sorted(set(numbers)) and len(numbers) == 5
    assert not {"correlation_id", "runtime_name", "runtime_tid"} & set(scope)
    for event in ops:
        assert event["runtime_name"] == "dispatch_kernel" and event["runtime_tid"] == event["thread_id"]
    # torch's name of it in a trace, where tools look for it
    assert [event["args"]["External id"] for event in trace_of(prof)["traceEvents"] if event.get("cat") == "cpu_op"] == numbers


# Rows as dictionaries


def test_rows_can_be_read_as_dictionaries_and_built_from_them(op):
    with profile() as prof, record_function("scope"):
        op("aten::mul", [2, 2])
        op("aten::mul", [2, 2])
    rows = prof.key_averages()
    for row, as_dict in zip(rows, rows._build_rows(), strict=True):
        assert as_dict["name"] == row.key and 0 <= as_dict["self_time_ns"] <= as_dict["total_time_ns"]
        assert as_dict["total_time_ns"] == pytest.approx(row.cpu_time_total * 1000)
        twin = row.__class__(dict(row._row))
        assert repr(twin) == repr(row) and twin._row == row._row and twin is not row
    count = rows[1].count
    assert rows[1].add(rows[1].__class__(dict(rows[1]._row))).count == 2 * count
