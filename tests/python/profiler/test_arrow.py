"""Events, averages and counters as Arrow tables: pyarrow, polars, DuckDB and pandas read them, and Parquet files hold them.

Tests mindtorch/export/tabular/tabular_arrow.
"""

import gc
import json

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.profiler import profile, record_function, schedule

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

NUMBERS = ("id", "step", "start_ns", "duration_ns", "thread", "thread_id", "sequence_nr", "self_cpu_time_ns", "flops")
TEXTS = ("name", "kind", "device_type", "op_device", "input_shapes", "stack")


@pytest.fixture(scope="module")
def prof():
    """Three steps of a small program, with everything recorded."""
    options = {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_flops": True}
    with profile(schedule=schedule(wait=0, warmup=1, active=3, repeat=1), **options) as recorded:
        for _ in range(4):
            with record_function("größe 😀"):
                (torch.ones(4, 8) @ torch.ones(8, 2)).sum()
            recorded.step()
    return recorded


def test_events_have_the_columns_of_mtprof_query(prof):
    table = pyarrow.table(prof.events())
    assert table.num_rows == len(prof.events())
    assert table.schema.names == prof.events().to_csv().splitlines()[0].split(",")
    assert {str(table.schema.field(name).type) for name in NUMBERS} == {"int64"}
    assert {str(table.schema.field(name).type.value_type) for name in TEXTS} == {"string"}
    assert str(table.schema.field("is_async").type) == "bool"


def test_values_are_those_of_the_events(prof):
    rows = pyarrow.table(prof.events()).to_pylist()
    for row, event in zip(rows, prof.events(), strict=True):
        assert (row["name"], row["id"], row["sequence_nr"]) == (event.trace_name, event.id, event.sequence_nr)
        assert row["self_cpu_time_ns"] == pytest.approx(1000 * event.self_cpu_time_total)
        assert json.loads(row["input_shapes"]) == event.input_shapes
        assert row["parent_id"] == (None if event.cpu_parent is None else event.cpu_parent.id)
    assert {row["step"] for row in rows} == {1, 2, 3}
    (product,) = {row["input_shapes"] for row in rows if row["name"] == "aten::mm"}
    assert json.loads(product)[:2] == [[4, 8], [8, 2]]
    assert any(row["memory_allocated_after"] > 0 for row in rows if row["memory_allocated_after"] is not None)


def test_a_part_of_the_events_is_a_table_too(prof):
    part = pyarrow.table(prof.events()[2:10:3])
    assert part.column("id").to_pylist() == [event.id for event in prof.events()[2:10:3]]


def test_averages_are_a_table(prof):
    averages = prof.key_averages(group_by_input_shape=True)
    rows = pyarrow.table(averages).to_pylist()
    assert [(row["key"], row["count"]) for row in rows] == [(row.key, row.count) for row in averages]
    assert [row["cpu_time_total"] for row in rows] == pytest.approx([row.cpu_time_total for row in averages])


def test_counters_are_a_table(prof):
    rows = pyarrow.table(prof.counters()).to_pylist()
    assert len(rows) == len(prof.counters()) > 0
    allocated = [row for row in rows if row["name"] == "allocated"]
    assert {row["device"] for row in allocated} == {"CPU"} and max(row["value"] for row in allocated) > 0
    assert [row["time_ns"] for row in allocated] == sorted(row["time_ns"] for row in allocated)


def test_a_table_outlives_the_profile():
    with profile() as recorded:
        torch.ones(4).sum()
    table = pyarrow.table(recorded.events())
    del recorded
    gc.collect()
    assert "aten::sum" in table.column("name").to_pylist()


def test_a_stream_that_nobody_reads_is_dropped(prof):
    for _ in range(3):
        assert "arrow_array_stream" in repr(prof.events().__arrow_c_stream__())
    gc.collect()


def test_duckdb_reads_events_by_the_name_of_a_variable(prof):
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    events, averages, counters = prof.events(), prof.key_averages(), prof.counters()
    assert len(averages) and len(counters)
    answer = duckdb.sql("select name, count(*) as calls from events where kind = 'op' group by name")
    assert dict(answer.fetchall())["aten::mm"] == sum(event.name == "aten::mm" for event in events) == 3
    assert duckdb.sql("select count from averages where key = 'aten::mm'").fetchall() == [(3,)]
    assert duckdb.sql("select max(value) from counters where name = 'allocated'").fetchall()[0][0] > 0


def test_polars_reads_events(prof):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.from_arrow(pyarrow.table(prof.events()))
    assert frame.height == len(prof.events())
    direct = polars.DataFrame(prof.counters())
    assert direct.columns == ["name", "unit", "device", "time_ns", "value"]
    products = frame.filter(polars.col("name").cast(polars.String) == "aten::mm")
    assert products.height == 3


def test_pandas_reads_events(prof):
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pyarrow.table(prof.events()).to_pandas()
    assert (frame["name"] == "aten::mm").sum() == 3


@pytest.mark.parametrize("suffix", ["parquet", "events.parquet", "averages.parquet", "counters.parquet"])
def test_parquet_files_hold_the_tables(prof, tmp_path, suffix):
    import pyarrow.parquet

    prof.export_trace(tmp_path / f"trace.{suffix}")
    read = pyarrow.parquet.read_table(tmp_path / f"trace.{suffix}")
    expected = {"averages.parquet": prof.key_averages, "counters.parquet": prof.counters}.get(suffix, prof.events)()
    assert read.to_pylist() == pyarrow.table(expected).to_pylist()
    assert [path.name for path in tmp_path.iterdir()] == [f"trace.{suffix}"]


def test_without_pyarrow_an_error_says_what_to_install(prof, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(RuntimeError, match="pip install pyarrow"):
        prof.export_trace(tmp_path / "trace.parquet")
    assert not list(tmp_path.iterdir())


def test_a_bad_path_leaves_nothing(prof, tmp_path):
    with pytest.raises(OSError):
        prof.export_trace(tmp_path / "no" / "trace.parquet")
