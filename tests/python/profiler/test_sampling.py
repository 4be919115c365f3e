"""A sampler names what the threads of Python do between events, and what they wait for."""

import asyncio
import csv
import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import mindtorch_v2
import pytest
from mindtorch_v2.profiler import profile
from mindtorch_v2.profiler._config import _ExperimentalConfig

_LONG_S = 0.15  # of the processor: so many looks fall into it that the machine may be busy


def sampled(**options):
    return profile(experimental_config=_ExperimentalConfig(sampling_interval_ms=1.0, **options))


@pytest.fixture
def samples_of(tmp_path):
    """All samples of a profile as rows of texts."""

    def samples_of(prof):
        path = tmp_path / "r.samples.plain.csv"
        prof.export_trace(str(path))
        with open(path, newline="") as file:
            return list(csv.DictReader(file))

    return samples_of


def times_by(rows, *keys):
    """{values of the keys: seconds}"""
    times = Counter()
    for row in rows:
        times[tuple(row[key] for key in keys) if len(keys) > 1 else row[keys[0]]] += int(row["duration_ns"]) / 1e9
    return times


def is_in(row, function):
    return any(frame.endswith(f":{function}") for frame in json.loads(row["stack"]))


def slow(seconds=_LONG_S):
    begin = time.thread_time()
    while time.thread_time() < begin + seconds:
        pass


def generates():
    slow()
    yield 1


async def awaits():
    await asyncio.sleep(0)
    slow()


def call(function):
    function()


def test_a_slow_function_has_its_name_line_and_callers(samples_of):
    with sampled() as prof:
        begin = time.perf_counter()
        call(slow)
        seconds = time.perf_counter() - begin
    rows = [row for row in samples_of(prof) if row["function"] == "slow"]
    assert times_by(rows, "function")["slow"] > 0.7 * seconds
    first = slow.__code__.co_firstlineno
    assert {row["file"] for row in rows} == {__file__}
    assert {int(row["line"]) for row in rows} <= set(range(first, first + 4))
    assert all(is_in(row, "call") and is_in(row, "test_a_slow_function_has_its_name_line_and_callers") for row in rows)
    assert {int(row["thread_id"]) for row in rows} == {threading.get_native_id()}


def test_generators_and_coroutines_have_their_callers(samples_of):
    with sampled() as prof:
        list(generates())
        asyncio.run(awaits())
    rows = [row for row in samples_of(prof) if row["function"] == "slow"]
    assert any(is_in(row, "generates") for row in rows)
    assert any(is_in(row, "awaits") and is_in(row, "_run_once") for row in rows)


def waits_for_lock(is_over):
    is_over.wait()


def waits_for_io(is_over):
    reader, writer = os.pipe()
    threading.Thread(target=lambda: (is_over.wait(), os.write(writer, b"x"))).start()
    os.read(reader, 1)
    os.close(reader)
    os.close(writer)


def sleeps(is_over):
    time.sleep(100)  # longer than any test


@pytest.mark.parametrize("wait", [waits_for_lock, waits_for_io, sleeps])
def test_a_waiting_thread_says_what_for(wait, samples_of):
    is_over = threading.Event()
    thread = threading.Thread(target=wait, args=[is_over], daemon=True)
    thread.start()
    with sampled() as prof:
        slow()
    is_over.set()
    rows = [row for row in samples_of(prof) if int(row["thread_id"]) == thread.native_id]
    times = times_by(rows, "state")
    assert times.most_common(1)[0][0] == wait.__name__, times
    assert all(is_in(row, wait.__name__) for row in rows)


def test_a_thread_that_wants_the_gil_waits_for_it(samples_of):
    is_over = threading.Event()

    def wants():
        while not is_over.is_set():
            pass

    thread = threading.Thread(target=wants)
    thread.start()
    with sampled() as prof:
        for _ in range(3):
            sum(range(10_000_000))  # C code that keeps it
    is_over.set()
    thread.join()
    states = times_by((row for row in samples_of(prof) if row["function"] == "wants"), "state")
    # A thread that asks for the GIL wakes up all the time. On a busy machine it mostly waits for a processor then.
    assert max(states["waits_for_gil"], states["not_scheduled"]) > 2 * states["running"], states


def test_garbage_collections_are_told_from_the_code_that_they_interrupt(samples_of):
    nodes = [[] for _ in range(300_000)]
    with sampled() as prof:
        begin = time.thread_time()
        while time.thread_time() < begin + _LONG_S:
            gc.collect()
    states = times_by((row for row in samples_of(prof) if int(row["thread_id"]) == threading.get_native_id()), "state")
    assert states["collects_garbage"] > states["running"], states
    assert len(nodes) == 300_000


def test_frames_of_the_profiler_are_left_out(samples_of):
    package = str(Path(mindtorch_v2.__file__).parent)
    with sampled() as prof:
        for _ in range(20):
            prof.add_metadata_json("key", json.dumps(list(range(1000))))
            slow(0.005)
    rows = samples_of(prof)
    assert rows
    assert not any(package in row["stack"] for row in rows)


def test_threads_may_begin_and_end_all_the_time(samples_of):
    def short():
        slow(0.0002)

    with profile(experimental_config=_ExperimentalConfig(sampling_interval_ms=0.1)) as prof:
        for _ in range(40):
            threads = [threading.Thread(target=short) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    rows = samples_of(prof)
    assert len({row["thread_id"] for row in rows}) > 1
    assert all(int(row["duration_ns"]) >= 0 for row in rows)


def test_code_that_is_made_and_dropped_has_its_own_names(samples_of):
    with sampled() as prof:
        for number in range(60):
            names = {"time": time}
            exec(
                f"def made_{number}():\n  b = time.thread_time()\n  while time.thread_time() < b + 0.003: pass\nmade_{number}()",
                names,
            )
            del names
    made = {row["function"] for row in samples_of(prof) if row["function"].startswith("made_")}
    assert len(made) > 10
    assert made <= {f"made_{number}" for number in range(60)}


def test_without_an_interval_there_are_no_samples(samples_of):
    with profile() as prof:
        slow(0.02)
    assert samples_of(prof) == []


def test_recordings_that_spill_have_samples(tmp_path, program):
    file = tmp_path / "r.mtrec"
    with sampled(spill_path=str(file)):
        slow()
    done = subprocess.run([program("mtprof"), "info", file], capture_output=True, text=True, check=True)
    assert "every 1.000 ms" in done.stdout
    assert "running" in done.stdout


def test_samples_are_a_table_of_queries(tmp_path):
    pytest.importorskip("duckdb")
    file = tmp_path / "r.mtrec"
    with sampled() as prof:
        slow()
    prof.export_trace(str(file))
    question = "select function, sum(duration_ns) > 0 as took_time from samples where function = 'slow' group by function"
    command = [sys.executable, "-m", "mindtorch_v2.profiler", "query", str(file), question, "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [{"function": "slow", "took_time": True}]


@pytest.mark.parametrize("interval", [-1, 0.01, 100_000, float("nan")])
def test_an_interval_that_makes_no_sense_is_refused(interval):
    with pytest.raises(ValueError, match="sampling_interval_ms must be 0 or between 0.1 and 60000"):
        _ExperimentalConfig(sampling_interval_ms=interval)


_FORKS = """
import os, sys, time
from mindtorch_v2.profiler import profile
from mindtorch_v2.profiler._config import _ExperimentalConfig

def busy(seconds):
    begin = time.thread_time()
    while time.thread_time() < begin + seconds: pass

def sampled(): return profile(experimental_config=_ExperimentalConfig(sampling_interval_ms=0.5))

with sampled() as prof:
    busy(0.05)
    child = os.fork()
    if child == 0:
        with sampled() as own:
            busy(0.1)
        own.export_trace(sys.argv[1] + "/child.samples.plain.csv")
        os._exit(7)
    busy(0.05)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
prof.export_trace(sys.argv[1] + "/parent.samples.plain.csv")
print(status)
"""


def test_a_forked_child_samples_itself_and_both_end(tmp_path):
    done = subprocess.run([sys.executable, "-c", _FORKS, tmp_path], capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    for name in ("child", "parent"):
        assert ",busy," in (tmp_path / f"{name}.samples.plain.csv").read_text()
