"""Python stacks: the interpreter's frames at each op and scope."""

import functools
import gc
import os
import sys
import threading

from mindtorch_v2.profiler import dispatch_op_enter, dispatch_op_exit, record_function

HERE = os.path.abspath(__file__)


def scope(name):
    with record_function(name):
        return sys._getframe()


def here(line, function):
    return f"{HERE}:{line}:{function}"


def test_a_stack_lists_file_line_and_function_innermost_first(record):
    def inner():
        with record_function("deep"):
            return sys._getframe().f_lineno - 1

    def outer():
        return inner(), sys._getframe().f_lineno

    with record(with_stack=True) as recorded:
        inner_line, outer_line = outer()
    stack = recorded.named("deep")[0]["stack"]
    assert stack[:2] == [here(inner_line, "inner"), here(outer_line, "outer")]
    assert stack[2].endswith(":test_a_stack_lists_file_line_and_function_innermost_first")


def test_a_stack_reaches_the_outermost_frame(record):
    with record(with_stack=True) as recorded:
        frame = scope("whole")
    functions = []
    while frame is not None:
        functions.append(frame.f_code.co_name)
        frame = frame.f_back
    assert [entry.rpartition(":")[2] for entry in recorded.named("whole")[0]["stack"]] == functions


def test_without_the_flag_there_is_no_stack(record):
    with record() as recorded:
        scope("plain")
    assert "stack" not in recorded.events[0]


def test_ops_of_dispatchers_have_stacks(record):
    with record(with_stack=True) as recorded:
        dispatch_op_exit(dispatch_op_enter("op", "cpu", (), None))
    assert recorded.events[0]["stack"][0].endswith(":test_ops_of_dispatchers_have_stacks")


def test_lines_are_those_of_the_call_also_in_a_statement_of_many_lines(record):
    with record(with_stack=True) as recorded:
        first = sys._getframe().f_lineno + 1
        (
            scope("first"),
            scope("second"),
        )
    line_of = {event["name"]: int(event["stack"][1].split(":")[1]) for event in recorded.events}
    assert line_of == {"first": first + 1, "second": first + 2}


def test_generators_show_who_resumes_them(record):
    def numbers():
        with record_function("in generator"):
            pass
        yield 1

    def consume():
        return list(numbers())

    with record(with_stack=True) as recorded:
        consume()
    functions = [entry.rpartition(":")[2] for entry in recorded.named("in generator")[0]["stack"]]
    assert functions[:2] == ["numbers", "consume"]


def test_decorators_of_the_user_are_shown_and_ours_are_not(record):
    def logged(function):
        @functools.wraps(function)
        def logging_wrapper(*args):
            return function(*args)

        return logging_wrapper

    @logged
    @record_function("decorated")
    def work():
        with record_function("inside"):
            pass

    with record(with_stack=True) as recorded:
        work()
    functions = [entry.rpartition(":")[2] for entry in recorded.named("inside")[0]["stack"]]
    assert functions[:2] == ["work", "logging_wrapper"]
    assert all("/mindtorch_v2/profiler/" not in entry for event in recorded.events for entry in event["stack"])


def test_every_thread_has_its_own_stack(record):
    def first_thread():
        scope("of first")

    def second_thread():
        scope("of second")

    with record(with_stack=True) as recorded:
        for target in (first_thread, second_thread):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    for name, function in (("of first", "first_thread"), ("of second", "second_thread")):
        assert recorded.named(name)[0]["stack"][1].endswith(f":{function}")


def test_code_that_is_gone_at_the_end_is_still_named(record):
    with record(with_stack=True) as recorded:
        for i in range(1500):
            namespace = {"record_function": record_function}
            source = f"def made_{i}():\n  with record_function('made'):\n    pass\n"
            exec(compile(source, f"<made {i}>", "exec"), namespace)
            namespace[f"made_{i}"]()
            del namespace
        gc.collect()
    tops = [event["stack"][0] for event in recorded.named("made")]
    assert tops == [f"<made {i}>:2:made_{i}" for i in range(1500)]


def test_code_objects_are_let_go_after_the_recording(record):
    code = compile("with record_function('x'):\n  pass\n", "<borrowed>", "exec")
    before = sys.getrefcount(code)
    with record(with_stack=True):
        exec(code, {"record_function": record_function})
        assert sys.getrefcount(code) > before
    assert sys.getrefcount(code) == before


def test_very_deep_stacks_keep_the_innermost_frames(record):
    def dive(depth):
        if depth == 0:
            scope("bottom")
        else:
            dive(depth - 1)

    with record(with_stack=True) as recorded:
        dive(700)
    stack = recorded.named("bottom")[0]["stack"]
    assert len(stack) >= 256
    assert [entry.rpartition(":")[2] for entry in stack[:3]] == ["scope", "dive", "dive"]


def test_files_whose_names_are_strange_are_named(record):
    for name in ("späte Datei.py", "名前.py", 'quo"te.py', "a:b.py", "lone\ud800.py"):
        with record(with_stack=True) as recorded:
            exec(compile("with record_function('x'):\n  pass\n", name, "exec"), {"record_function": record_function})
        assert recorded.events[0]["stack"][0] == f"{name}:1:<module>".replace("\ud800", "\ufffd\ufffd\ufffd")
