"""Python stacks of torch's ops, which run without the GIL."""

import inspect
import json
import os
import threading


def profiled(program, **options):
    from mindtorch_v2.profiler import profile

    with profile(activities=["cpu"], with_stack=True, **options) as p:
        program()
    return p


def frames(event):
    """(file, function) of each frame, innermost first."""
    return [(entry.rsplit(":", 2)[0], entry.rsplit(":", 2)[2]) for entry in event["stack"]]


def test_an_op_has_the_stack_of_its_call(torch):
    def inner():
        torch.ones(3).mul(2)

    def outer():
        inner()

    events = {event.name: event for event in profiled(outer).events()}
    here = os.path.abspath(__file__)
    assert frames(events["aten::mul"])[:2] == [(here, "inner"), (here, "outer")]


def test_ops_of_layers_show_the_way_through_them(torch):
    model = torch.nn.Sequential(torch.nn.Linear(3, 3))
    events = {event.name: event for event in profiled(lambda: model(torch.ones(2, 3))).events()}
    functions = [function for _, function in frames(events["aten::addmm"])]
    assert functions[0] == "forward"
    assert "_call_impl" in functions


def test_every_thread_has_its_own_stack(torch):
    def work():
        for _ in range(200):
            torch.ones(3).neg()

    def program():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    events = [event for event in profiled(program).events() if event.name == "aten::neg"]
    assert len(events) == 800
    assert {frames(event)[0][1] for event in events} == {"work"}


def test_ops_called_by_an_op_have_its_stack(torch):
    def program():
        for size in (3, 4):
            torch.nn.functional.linear(torch.ones(2, size), torch.ones(5, size))
        torch.ones(3).to(torch.float64)

    events = list(profiled(program).events())
    children = [event for event in events if event.cpu_parent is not None]
    assert len(children) > 8
    for event in children:
        assert event["stack"] == event.cpu_parent["stack"] != []


def test_an_op_called_by_python_inside_of_an_op_shows_that_python(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x.mul(2)

        @staticmethod
        def backward(context, gradient):
            return gradient * 2

    def program():
        Double.apply(torch.ones(3, requires_grad=True))

    events = {event.name: event for event in profiled(program).events()}
    apply = ["apply"] if inspect.ismethod(Double.apply) else []  # Python's until torch 2.14, torch's C++ since
    assert [function for _, function in frames(events["aten::mul"])][: 2 + len(apply)] == ["forward", *apply, "program"]
    assert [function for _, function in frames(events["Double"])][: 1 + len(apply)] == [*apply, "program"]


def test_stacks_are_right_in_one_profile_after_another(torch):
    for number in range(20):
        space = {"torch": torch}
        exec(f"def function_{number}():\n    torch.ones(3).abs()\n", space)
        events = [event for event in profiled(space[f"function_{number}"]).events() if event.name == "aten::abs"]
        assert frames(events[0])[0] == ("<string>", f"function_{number}")


def python_slices(prof, path):
    prof.export_chrome_trace(str(path))
    return [event for event in json.loads(path.read_text())["traceEvents"] if event.get("cat") == "python_function"]


def test_every_call_is_recorded_with_stacks_as_torch_does_it_if_taken_over_profiles_shall_do_so(torch, tmp_path, request):
    from mindtorch_v2.profiler import take_over

    request.addfinalizer(take_over(python_calls=True).undo)

    def without_ops():
        return len([])

    def program():
        without_ops()
        torch.ones(3).neg()

    slices = python_slices(profiled(program), tmp_path / "trace.json")
    assert sum(event["name"].endswith(": without_ops") for event in slices) == 1
    assert not any("derived from stacks" in event["args"] for event in slices)


def test_stacks_alone_are_recorded_if_calls_are_not_asked_for(torch, tmp_path):
    def without_ops():
        return len([])

    def program():
        without_ops()
        torch.ones(3).neg()

    slices = python_slices(profiled(program), tmp_path / "trace.json")
    assert any(event["name"].endswith(": program") for event in slices)
    assert not any(event["name"].endswith(": without_ops") for event in slices)
    assert all(event["args"]["derived from stacks"] for event in slices)


def without_ops():
    return len([])


def profiled_by_torch(torch, program):
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True) as p:
        program()
    return p


def profiled_by_both(torch, program, **options):
    """Profiles of torch, which records Python calls for stacks, and of ours, which does so if the options say it."""
    return profiled_by_torch(torch, program), profiled(program, **options)


def all_nodes(roots):
    for node in roots:
        yield node
        yield from all_nodes(node.children)


def test_torch_shows_calls_without_ops_for_stacks_and_ours_does_not(torch, tmp_path):
    def program():
        without_ops()
        torch.ones(3).neg()

    wanted = (": without_ops", "<built-in function len>")
    for prof, count in zip(profiled_by_both(torch, program), (2, 0), strict=True):
        assert sum(event["name"].endswith(wanted) for event in python_slices(prof, tmp_path / "trace.json")) == count
        tree = prof.profiler.kineto_results.experimental_event_tree()
        assert sum(node.name.endswith(wanted) for node in all_nodes(tree)) == count
        assert any(node.name.endswith(": program") for node in all_nodes(tree))


def test_torch_shows_calls_of_its_profiler_and_ours_does_not(torch, tmp_path):
    theirs, ours = (
        {event["name"] for event in python_slices(prof, tmp_path / "trace.json")}
        for prof in profiled_by_both(torch, without_ops, python_calls=True)
    )
    assert {name.rpartition(" ")[2] for name in theirs if "profiler/profiler.py(" in name} >= {"__enter__", "__exit__", "stop"}
    assert [name for name in ours if "profiler.py(" in name] == []
    assert any(name.endswith(": without_ops") for name in theirs & ours)


def test_python_calls_are_rows_of_the_averages_in_torch_and_not_in_ours(torch):
    theirs, ours = profiled_by_both(torch, without_ops, python_calls=True)
    for prof, rows in ((theirs, 1), (ours, 0)):
        assert sum(event.name.endswith(": without_ops") for event in prof.events()) == 1
        assert sum(row.key.endswith(": without_ops") for row in prof.key_averages()) == rows


def test_calls_of_threads_that_start_meanwhile_are_recorded_by_ours_and_not_by_torch(torch, tmp_path):
    def program():
        thread = threading.Thread(target=without_ops)
        thread.start()
        thread.join()

    profiles = profiled_by_both(torch, program, python_calls=True)
    calls = [[event["name"] for event in python_slices(prof, tmp_path / "trace.json")] for prof in profiles]
    assert [sum(name.endswith(": without_ops") for name in names) for names in calls] == [0, 1]
    assert all(any(name.endswith(": program") for name in names) for names in calls)


def test_functions_that_ran_on_other_threads_before_need_stacks_in_torch_and_recorded_calls_in_ours(torch, tmp_path):
    def waits(ready, go):
        ready.set()
        go.wait()
        without_ops()

    def shown(make_profile):
        ready, go = threading.Event(), threading.Event()
        thread = threading.Thread(target=waits, args=(ready, go))
        thread.start()
        ready.wait()
        prof = make_profile(lambda: (go.set(), thread.join()))
        return any(event["name"].endswith(": waits") for event in python_slices(prof, tmp_path / "trace.json"))

    assert shown(lambda program: profiled_by_torch(torch, program))
    assert not shown(profiled)
    assert shown(lambda program: profiled(program, python_calls=True))
