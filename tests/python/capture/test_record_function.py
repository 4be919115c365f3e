"""record_function: scopes of the user's, as blocks and as decorators."""

import asyncio
import contextlib
import copy
import gc
import inspect
import itertools
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from mindtorch_v2.profiler import record_function


def test_a_block_is_an_event(record):
    with record() as recorded, record_function("block"):
        pass
    (event,) = recorded.named("block")
    assert event["kind"] == "scope"
    assert event["end_ns"] >= event["start_ns"]


def test_enter_gives_the_scope_itself(record):
    scope = record_function("block")
    with record(), scope as given:
        assert given is scope


def test_scopes_nest_and_the_outer_comes_first(record):
    with record() as recorded, record_function("outer"), record_function("inner"):
        pass
    outer, inner = recorded.events
    assert (outer["name"], inner["name"]) == ("outer", "inner")
    assert outer["start_ns"] <= inner["start_ns"] <= inner["end_ns"] <= outer["end_ns"]


def test_an_exception_closes_the_scope_and_goes_on(record):
    with record() as recorded:
        with pytest.raises(KeyError, match="lost"), record_function("raises"):
            raise KeyError("lost")
        with record_function("after"):
            pass
    raises, after = recorded.events
    assert raises["end_ns"] <= after["start_ns"]


# Rule: scopes.idle
def test_outside_of_a_profile_nothing_is_recorded(record):
    with record_function("before"):
        pass
    with record() as recorded, record_function("inside"):
        pass
    with record_function("after"):
        pass
    assert recorded.names() == ["inside"]


def test_a_scope_open_at_the_start_is_no_event_and_does_no_harm(record):
    with record_function("around"), record() as recorded, record_function("inside"):
        pass
    assert recorded.names() == ["inside"]


def test_a_scope_open_at_the_end_is_there(record):
    scope = record_function("open")
    with record() as recorded:
        scope.__enter__()
    scope.__exit__(None, None, None)
    assert recorded.names() == ["open"]


def test_one_object_can_be_entered_again_while_it_is_open(record):
    scope = record_function("again")
    with record() as recorded, scope, record_function("between"), scope:
        pass
    first, between, second = recorded.events
    assert first["start_ns"] <= between["start_ns"] <= second["start_ns"]
    assert second["end_ns"] <= between["end_ns"] <= first["end_ns"]


def test_an_object_can_be_used_in_many_profiles(record):
    scope = record_function("reused")
    for _ in range(3):
        with record() as recorded, scope:
            pass
        assert recorded.names() == ["reused"]


def test_names_may_hold_any_character(record):
    names = ["", "späte Stunde", "名前", 'quo"te\\', "line\nbreak", "nul\0byte", "\U0001f600"]
    with record() as recorded:
        for name in names:
            with record_function(name):
                pass
    assert recorded.names() == names


def test_a_name_that_utf8_cannot_hold_is_no_reason_to_fail(record):
    with record() as recorded, record_function("lone\ud800surrogate"):
        pass
    assert recorded.names() == ["lone\ufffd\ufffd\ufffdsurrogate"]


def test_thousands_of_names_are_kept_apart(record):
    names = [f"scope {i}" for i in range(5000)]
    with record() as recorded:
        for name in names:
            with record_function(name):
                pass
    assert recorded.names() == names


def test_a_name_must_be_text():
    with pytest.raises(TypeError, match="name must be a str, got int"):
        record_function(1)
    with pytest.raises(TypeError, match="args must be a str or None, got list"):
        record_function("x", [])
    with pytest.raises(TypeError):
        record_function()
    with pytest.raises(TypeError):
        record_function("x", None, None)
    with pytest.raises(TypeError):
        record_function("x", unknown=1)


def test_it_has_torchs_attributes_and_signature():
    scope = record_function(name="x", args="y")
    assert (scope.name, scope.args, scope.run_callbacks_on_exit) == ("x", "y", True)
    assert record_function("x").args is None
    assert str(inspect.signature(record_function)) == "(name, args=None)"
    assert record_function.__name__ == "record_function"
    assert record_function.__module__ == "mindtorch_v2.profiler"
    assert isinstance(scope, contextlib.AbstractContextManager)


def test_the_name_can_be_changed_but_stays_text(record):
    scope = record_function("first")
    scope.name = "second"
    with record() as recorded, scope:
        pass
    assert recorded.names() == ["second"]
    with pytest.raises(TypeError):
        scope.name = 3
    with pytest.raises(AttributeError):
        del scope.name


def test_it_can_be_subclassed(record):
    class Labelled(record_function):
        def __init__(self, number):
            super().__init__(f"label {number}", args="from a subclass")
            self.entered = 0

        def __enter__(self):
            self.entered += 1
            return super().__enter__()

    scope = Labelled(7)
    with record() as recorded, scope as given:
        assert given is scope
    assert recorded.names() == ["label 7"]
    assert scope.entered == 1
    decorated = scope(lambda: None)
    decorated()
    assert scope.entered == 2, "a decorator of a subclass enters that object"


def test_a_subclass_instance_in_a_cycle_is_collected():
    class Labelled(record_function):
        pass

    alive = []

    class Watch:
        def __del__(self):
            alive.remove(self.number)

    watch = Watch()
    watch.number = 1
    alive.append(1)
    scope = Labelled("x")
    scope.watch, scope.self = watch, scope
    del scope, watch
    gc.collect()
    assert alive == []


def test_a_scope_that_is_dropped_while_open_ends(record):
    with record() as recorded:
        record_function("dropped").__enter__()
        with record_function("after"):
            pass
    dropped, after = recorded.events
    assert dropped["end_ns"] <= after["start_ns"]


def test_a_decorated_function_keeps_its_identity_and_is_recorded_each_call(record):
    @record_function("work")
    def work(a, *, b=2):
        """Adds."""
        return a + b

    assert work.__name__ == "work"
    assert work.__doc__ == "Adds."
    assert str(inspect.signature(work)) == "(a, *, b=2)"
    with record() as recorded:
        assert [work(1), work(1, b=5)] == [3, 6]
    assert recorded.names() == ["work", "work"]


def test_a_decorated_function_can_recurse_and_raise(record):
    @record_function("countdown")
    def countdown(n):
        if n == 0:
            raise ValueError("zero")
        with record_function("next"):  # a call that is all its caller does, and of the same name, would be one event with it
            countdown(n - 1)

    with record() as recorded, pytest.raises(ValueError, match="zero"):
        countdown(2)
    assert recorded.names() == ["countdown", "next", "countdown", "next", "countdown"]
    for outer, inner in itertools.pairwise(recorded.events):
        assert outer["start_ns"] <= inner["start_ns"] <= inner["end_ns"] <= outer["end_ns"]


def test_methods_class_methods_and_static_methods_can_be_decorated(record):
    class Model:
        @record_function("method")
        def method(self):
            return self

        @record_function("class method")
        @classmethod
        def of_class(cls):
            return cls

        @record_function("static method")
        @staticmethod
        def of_nobody():
            return 1

    model = Model()
    with record() as recorded:
        assert model.method() is model
        assert Model.of_class() is Model
        assert Model.of_nobody() == 1
    assert recorded.names() == ["method", "class method", "static method"]


def test_a_decorated_function_runs_on_many_threads_at_once(record):
    barrier = threading.Barrier(4)

    @record_function("together")
    def together():
        barrier.wait()

    with record() as recorded:
        threads = [threading.Thread(target=together) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    events = recorded.named("together")
    assert len({event["thread_id"] for event in events}) == len(events) == 4


def test_a_decorated_generator_has_an_event_for_each_step(record):
    @record_function("step")
    def numbers():
        received = yield 1
        yield received
        return "done"

    def drive():
        return (yield from numbers())

    with record() as recorded:
        generator = drive()
        assert next(generator) == 1
        with record_function("between"):
            pass
        assert generator.send(5) == 5
        with pytest.raises(StopIteration) as stop:
            next(generator)
        assert stop.value.value == "done"
    assert recorded.names() == ["step", "between", "step", "step"]


def test_what_is_thrown_into_a_decorated_generator_arrives(record):
    @record_function("step")
    def careful():
        try:
            yield 1
        except KeyError:
            yield 2
        finally:
            cleaned.append(True)

    cleaned = []
    with record():
        generator = careful()
        assert next(generator) == 1
        assert generator.throw(KeyError("x")) == 2
        generator.close()
    assert cleaned == [True]
    assert inspect.isgeneratorfunction(careful)


def test_a_decorated_coroutine_has_an_event_for_each_step(record):
    @record_function("task")
    async def task(name):
        await asyncio.sleep(0)
        return name

    async def main():
        return await asyncio.gather(task("a"), task("b"))

    with record() as recorded:
        assert asyncio.run(main()) == ["a", "b"]
    events = recorded.named("task")
    assert len(events) == 4, "two tasks of two steps each"
    for before, after in itertools.pairwise(events):
        assert before["end_ns"] <= after["start_ns"], "steps of tasks that take turns do not overlap"
    assert inspect.iscoroutinefunction(task)


def test_a_decorated_asynchronous_generator_works(record):
    @record_function("chunk")
    async def chunks():
        for i in range(3):
            await asyncio.sleep(0)
            yield i

    async def main():
        return [chunk async for chunk in chunks()]

    with record() as recorded:
        assert asyncio.run(main()) == [0, 1, 2]
    assert len(recorded.named("chunk")) >= 4
    assert inspect.isasyncgenfunction(chunks)


def test_a_future_can_end_the_scope_on_another_thread(record):
    release = threading.Event()
    with record() as recorded, ThreadPoolExecutor(1) as pool:
        with record_function("until done") as scope:
            future = scope._call_end_callbacks_on_future(pool.submit(release.wait))
        with record_function("meanwhile"):
            pass
        release.set()
        assert future.result() is True
    (until_done,), (meanwhile,) = recorded.named("until done"), recorded.named("meanwhile")
    assert until_done["end_ns"] >= meanwhile["end_ns"]
    with pytest.raises(RuntimeError, match="can only be called once"):
        scope._call_end_callbacks_on_future(future)


class Named(record_function):
    """A subclass whose __init__ has arguments of its own."""

    def __init__(self, number, *, unit):
        super().__init__(f"{number} {unit}", "args")
        self.number = number


COPIES = [copy.copy, copy.deepcopy, lambda scope: pickle.loads(pickle.dumps(scope))]


@pytest.mark.parametrize("copy_of", COPIES)
def test_a_copy_is_a_scope_of_its_own_that_is_not_open(record, copy_of):
    scope = record_function("block", "text")
    with record() as recorded, scope:
        copied = copy_of(scope)
        copied.__exit__(None, None, None)
        with copied:
            pass
        with record_function("other"):  # events() leaves out a scope that is the only one in another of its name
            pass
    assert (type(copied), copied.name, copied.args) == (record_function, "block", "text")
    outer, inner = recorded.named("block")
    assert outer["start_ns"] <= inner["start_ns"] <= inner["end_ns"] <= outer["end_ns"]


@pytest.mark.parametrize("copy_of", COPIES)
def test_a_copy_of_a_subclass_has_its_attributes(copy_of):
    copied = copy_of(Named(3, unit="steps"))
    assert (type(copied), copied.name, copied.args, copied.number) == (Named, "3 steps", "args", 3)


def test_attributes_may_be_set_and_are_copied():
    scope = record_function("block")
    assert vars(scope) == {}
    scope.owner = ["someone"]
    assert vars(scope) == {"owner": ["someone"]}
    assert copy.copy(scope).owner is scope.owner
    assert copy.deepcopy(scope).owner == scope.owner
    assert copy.deepcopy(scope).owner is not scope.owner


def test_a_subclass_that_holds_itself_is_collected():
    alive = [True]

    class Watched:
        def __del__(self):
            alive.clear()

    scope = Named(1, unit="x")
    scope.itself, scope.watched = scope, Watched()
    del scope
    gc.collect()
    assert not alive
