"""Threads have in traces the names that the program gives them."""

import threading
from pathlib import Path

from mindtorch_v2.profiler import profile, record_function


def names_of_rows(trace):
    """{name of a scope: name of the row it lies in}"""
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    return {e["name"]: rows[e["pid"], e["tid"]] for e in trace["traceEvents"] if e.get("cat") == "user_annotation"}


def scope(name):
    with record_function(name):
        pass


def run(thread):
    thread.start()
    thread.join()


def test_python_threads_have_their_names_whenever_they_begin_and_end(trace_of):
    recorded, may_record, may_end = threading.Event(), threading.Event(), threading.Event()

    def live():
        may_record.wait()
        scope("before")
        recorded.set()
        may_end.wait()

    early = threading.Thread(target=live, name="loader_7")
    early.start()
    with profile() as prof:
        run(threading.Thread(target=scope, args=["inside"], name="infer_0"))
        may_record.set()
        recorded.wait()
        scope("main")
    may_end.set()
    early.join()
    rows = names_of_rows(trace_of(prof))
    assert rows["before"].endswith("(loader_7)")
    assert rows["inside"].endswith("(infer_0)")
    assert not rows["main"].endswith(("(loader_7)", "(infer_0)", "(MainThread)"))


def test_a_name_that_the_program_has_told_the_system_stays(trace_of):
    def work():
        Path(f"/proc/self/task/{threading.get_native_id()}/comm").write_text("own name")
        scope("work")

    with profile() as prof:
        run(threading.Thread(target=work, name="python's name"))
    assert names_of_rows(trace_of(prof))["work"].endswith("(own name)")


def test_a_long_name_is_cut_between_characters(trace_of):
    with profile() as prof:
        run(threading.Thread(target=scope, args=["work"], name="abcdefghijklmn€uro"))
    assert names_of_rows(trace_of(prof))["work"].endswith("(abcdefghijklmn)")


def test_nothing_is_left_in_threading():
    before = threading.Thread.__dict__.copy()
    with profile():
        scope("work")
    assert dict(threading.Thread.__dict__) == before
