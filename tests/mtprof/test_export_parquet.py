"""mtprof export to .parquet: the same tables as those of a profile in a program, and a clear error where pyarrow is missing."""

import json
import subprocess
import sys

import pytest

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """A profile, and the recording that it wrote."""
    import mindtorch_v2 as torch
    from mindtorch_v2.profiler import profile, record_function

    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        for _ in range(3):
            with record_function('a "name",\nwith\tmarks'):
                torch.mm(torch.ones(4, 4), torch.ones(4, 4)).sum()
            prof.step()
    path = tmp_path_factory.mktemp("profiled") / "trace.mtrec"
    prof.export_trace(path)
    return prof, path


@pytest.fixture
def export(program):
    def call(*arguments, status=0, command=None):
        done = subprocess.run([*(command or [program("mtprof")]), "export", *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done

    return call


@pytest.mark.parametrize("suffix", ["parquet", "averages.parquet", "counters.parquet"])
def test_a_file_has_the_table_that_the_profile_has(export, profiled, tmp_path, suffix):
    import pyarrow.parquet

    prof, recording = profiled
    path = tmp_path / f"a.{suffix}"
    assert str(path) in export(recording, "-o", path).stdout
    prof.export_trace(tmp_path / f"b.{suffix}")
    ours, expected = (pyarrow.parquet.read_table(tmp_path / f"{name}.{suffix}") for name in "ab")
    assert ours.column_names == expected.column_names and ours.num_rows == expected.num_rows > 0
    for name in ours.column_names:
        assert ours[name].to_pylist() == expected[name].to_pylist(), name


def test_other_files_are_written_in_the_same_call(export, profiled, tmp_path):
    names = [tmp_path / name for name in ("a.parquet", "b.json", "c.counters.parquet")]
    done = export(profiled[1], "-o", names[0], f"--output={names[1]}", f"-o{names[2]}", "--json")
    assert [file["path"] for file in json.loads(done.stdout)["files"]] == [str(name) for name in names]
    assert sorted(tmp_path.iterdir()) == sorted(names)


def test_the_python_command_does_the_same(export, profiled, tmp_path):
    export(profiled[1], "-o", tmp_path / "a.parquet", command=[sys.executable, "-m", "mindtorch_v2.profiler"])
    assert (tmp_path / "a.parquet").exists()


def test_without_pyarrow_an_error_says_what_to_install(profiled, program, tmp_path, monkeypatch, capfd):
    from mindtorch_v2.cli import program as commands

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert commands.main(["export", str(profiled[1]), "-o", str(tmp_path / "a.parquet")]) == 1
    assert "pip install pyarrow" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_read_or_written_is_told_and_leaves_nothing(export, profiled, tmp_path):
    assert "missing.mtrec" in export(tmp_path / "missing.mtrec", "-o", tmp_path / "a.parquet", status=1).stderr
    assert "there is no folder" in export(profiled[1], "-o", tmp_path / "no" / "a.parquet", status=2).stderr
    assert not list(tmp_path.iterdir())
