"""python_calls: every call of a Python or C function is an event."""

import cProfile
import json
import sys
import threading

import pytest
from mindtorch_v2.profiler import _ExperimentalConfig, profile, record_function


def innermost():
    return sorted([2, 1])


def middle():
    return innermost()


def outermost():
    middle()
    with record_function("scope"):
        middle()


def python_events(prof, tmp_path):
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    events = [event for event in json.loads(path.read_bytes())["traceEvents"] if event.get("cat") == "python_function"]
    return sorted(events, key=lambda event: (event["tid"], event["ts"], -event["dur"]))


def callers(events):
    """The functions around each event, by the ids that viewers follow: outermost first."""
    by_id = {event["args"]["Python id"]: event for event in events}

    def path(event):
        parent = by_id.get(event["args"]["Python parent id"])
        return [*(path(parent) if parent else []), event["name"].rpartition(" ")[2]]

    return [path(event) for event in events]


def calls_from(events, function):
    paths = [path[path.index(function) :] for path in callers(events) if function in path]
    return ["/".join(path) for path in paths]


def test_each_call_is_an_event_inside_its_caller(tmp_path):
    with profile(python_calls=True) as prof:
        outermost()
    chain = ["outermost/middle", "outermost/middle/innermost", "outermost/middle/innermost/sorted>"]
    assert calls_from(python_events(prof, tmp_path), "outermost") == ["outermost", *chain, *chain]


def test_names_are_files_lines_and_functions(tmp_path):
    with profile(python_calls=True) as prof:
        middle()
    names = [event["name"] for event in python_events(prof, tmp_path)]
    line = middle.__code__.co_firstlineno
    assert sum(name.endswith(f"test_python_calls.py({line}): middle") for name in names) == 1
    assert "<built-in function sorted>" in names


def test_functions_that_run_when_the_profile_starts_are_shown_and_end_with_it(tmp_path):
    with profile(python_calls=True) as prof:
        middle()
    here = "test_functions_that_run_when_the_profile_starts_are_shown_and_end_with_it"
    assert f"{here}/middle" in calls_from(python_events(prof, tmp_path), here)
    assert "Incomplete" not in prof.key_averages().table()


def test_the_profiler_itself_is_not_shown(tmp_path):
    with profile(python_calls=True) as prof:
        outermost()
    names = [event["name"] for event in python_events(prof, tmp_path)]
    assert not [name for name in names if "mindtorch_v2" in name and "tests" not in name]


def test_threads_that_run_and_threads_that_start_are_recorded(tmp_path):
    begin, end = threading.Event(), threading.Event()

    def waits():
        begin.wait()
        middle()
        end.set()

    running = threading.Thread(target=waits)
    running.start()
    with profile(python_calls=True) as prof:
        begin.set()
        end.wait()
        starting = threading.Thread(target=middle)
        starting.start()
        starting.join()
        running.join()
    events = python_events(prof, tmp_path)
    assert len({event["tid"] for event in events if event["name"].endswith(": middle")}) == 2
    assert any(event["name"].endswith(": waits") for event in events)


def test_a_generator_has_an_event_each_time_it_runs(tmp_path):
    def numbers():
        yield 1
        yield 2

    with profile(python_calls=True) as prof:
        list(numbers())
    names = [event["name"] for event in python_events(prof, tmp_path)]
    assert sum(name.endswith(": numbers") for name in names) == 3


def test_calls_that_raise_end(tmp_path):
    def raises():
        int("no number")

    with profile(python_calls=True) as prof:
        with pytest.raises(ValueError, match="no number"):
            raises()
        middle()
    assert "raises/middle" not in calls_from(python_events(prof, tmp_path), "raises")


def test_torchs_option_for_whole_stacks_records_calls():
    with profile(with_stack=True, experimental_config=_ExperimentalConfig(verbose=True)) as prof:
        middle()
    assert prof.python_calls
    assert any(event.is_python_function for event in prof.events())


def test_nothing_is_called_after_the_profile_and_functions_of_others_are_set_again():
    def of_thread(*_):
        pass

    def of_new_threads(*_):
        pass

    sys.setprofile(of_thread)
    threading.setprofile(of_new_threads)
    try:
        with profile(python_calls=True):
            middle()
        assert sys.getprofile() is of_thread
        assert threading.getprofile() is of_new_threads
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="sys.monitoring records calls, beside which profile functions just work")
def test_a_profile_function_that_the_program_sets_meanwhile_is_called_and_recording_goes_on(tmp_path):
    seen = []

    def programs(frame, event, _):
        seen.append((event, frame.f_code.co_name))

    setprofile = sys.setprofile
    with profile(python_calls=True) as prof:
        middle()
        sys.setprofile(programs)
        assert sys.getprofile() is programs
        middle()
        sys.setprofile(None)
        assert sys.getprofile() is None
        middle()
    assert sys.setprofile is setprofile and sys.getprofile() is None
    names = [event["name"].rpartition(" ")[2] for event in python_events(prof, tmp_path)]
    assert names.count("middle") == names.count("innermost") == 3
    calls = [("call", "middle"), ("call", "innermost"), ("c_call", "innermost"), ("c_return", "innermost")]
    assert [entry for entry in seen if entry[1] in ("middle", "innermost")] == [*calls, ("return", "innermost"), ("return", "middle")]
    own = test_a_profile_function_that_the_program_sets_meanwhile_is_called_and_recording_goes_on.__name__
    assert [entry for entry in seen if entry[1] == own][-1] == ("c_call", own)  # of sys.setprofile(None)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="sys.monitoring records calls")
def test_a_profile_function_that_fails_is_dropped_and_recording_goes_on(tmp_path):
    def fails(*_):
        raise KeyError("mine")

    with profile(python_calls=True) as prof:
        sys.setprofile(fails)
        try:
            middle()
        except KeyError as error:
            raised = error
        assert sys.getprofile() is None
        middle()
    assert raised.args == ("mine",)
    names = [event["name"].rpartition(" ")[2] for event in python_events(prof, tmp_path)]
    assert names.count("innermost") == 1  # the function failed at the call of middle()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="sys.monitoring records calls")
def test_a_profile_function_that_is_set_meanwhile_stays_set():
    def programs(*_):
        pass

    with profile(python_calls=True):
        sys.setprofile(programs)
    assert sys.getprofile() is programs
    sys.setprofile(None)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cProfile uses sys.monitoring, as we do")
def test_a_profiler_in_c_that_takes_the_place_of_ours_is_told():
    other = cProfile.Profile()
    with pytest.warns(UserWarning, match="Another profiler .* the calls after that moment are not recorded"), profile(python_calls=True):
        other.enable()
        middle()
        other.disable()


def test_recordings_follow_each_other(tmp_path):
    for _ in range(3):
        with profile(python_calls=True) as prof:
            middle()
        middle()
        assert calls_from(python_events(prof, tmp_path), "middle") == ["middle", "middle/innermost", "middle/innermost/sorted>"]


def test_a_profile_without_the_option_has_no_calls(tmp_path):
    with profile() as prof:
        outermost()
    assert python_events(prof, tmp_path) == []


def test_methods_of_c_types_are_named_with_their_object(tmp_path):
    def appends():
        [].append(1)

    with profile(python_calls=True) as prof:
        appends()
    names = [event["name"] for event in python_events(prof, tmp_path)]
    assert [name for name in names if name.startswith("<built-in method append of list object at 0x")]


def test_thousands_of_functions_keep_their_names(tmp_path):
    functions = {}
    exec("".join(f"def made_{i}(): return abs({i})\n" for i in range(2000)), functions)
    with profile(python_calls=True) as prof:
        for _ in range(2):
            for i in range(2000):
                functions[f"made_{i}"]()
    made = [event["name"].rpartition(" ")[2] for event in python_events(prof, tmp_path) if ": made_" in event["name"]]
    assert made == [f"made_{i}" for i in range(2000)] * 2


def test_methods_of_many_types_keep_their_names(tmp_path):
    objects = [type(f"Made{i}", (list,), {})() for i in range(2000)]
    with profile(python_calls=True) as prof:
        for made in objects:
            made.append(1)
    made = [event["name"] for event in python_events(prof, tmp_path) if event["name"].startswith("<built-in method append of Made")]
    assert [name.split()[4] for name in made] == [f"Made{i}" for i in range(2000)]


def test_generators_that_are_closed_or_thrown_into_end(tmp_path):
    def generates():
        try:
            yield 1
        except ValueError:
            yield 2

    def uses():
        thrown, closed = generates(), generates()
        next(thrown), next(closed)
        thrown.throw(ValueError())
        closed.close()
        middle()

    with profile(python_calls=True) as prof:
        uses()
    calls = calls_from(python_events(prof, tmp_path), "uses")
    assert "uses/middle" in calls
    assert "uses/generates/middle" not in calls


@pytest.mark.skipif(not hasattr(sys, "monitoring"), reason="sys.monitoring came with Python 3.12")
class TestMonitoring:
    def test_the_place_of_a_profiler_is_free_afterwards(self):
        with profile(python_calls=True):
            assert sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) == "mindtorch_v2.profiler"
        assert sys.monitoring.get_tool(sys.monitoring.PROFILER_ID) is None

    @pytest.mark.parametrize("taken", [[2], [2, 3, 4]])
    def test_calls_are_recorded_beside_other_tools(self, taken, tmp_path):
        for number in taken:
            sys.monitoring.use_tool_id(number, "another tool")
        try:
            with profile(python_calls=True) as prof:
                middle()
            assert calls_from(python_events(prof, tmp_path), "middle") == ["middle", "middle/innermost", "middle/innermost/sorted>"]
            assert {sys.monitoring.get_tool(number) for number in taken} == {"another tool"}
        finally:
            for number in taken:
                sys.monitoring.free_tool_id(number)
