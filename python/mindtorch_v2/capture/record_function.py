"""The parts of record_function that are not performance critical: decorators, futures, arguments, traced code."""

import functools
import inspect
from types import coroutine

from mindtorch_v2._C import _RecordFunctionFast, record_function


def decorate(scope, function):
    """Runs `function` in a scope like `scope`. Each call has its own scope, so that threads and recursion do not interfere."""
    if isinstance(function, classmethod | staticmethod):
        return type(function)(decorate(scope, function.__func__))
    make = _maker_of(scope)
    if inspect.isasyncgenfunction(function):
        return _wrap_async_generator(make, function)
    if inspect.iscoroutinefunction(function):
        return _wrap_coroutine(make, function)
    if inspect.isgeneratorfunction(function):
        return _wrap_generator(make, function)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with make():
            return function(*args, **kwargs)

    return wrapper


def _maker_of(scope):
    """What a call of the decorated function calls for its scope. Dynamo understands calls of the class, but not methods of an object."""
    if type(scope) is not record_function:
        return scope._recreate_cm
    name, args = scope.name, scope.args
    return lambda: record_function(name, args)


def _steps(make, generator):
    """Runs each step of a generator or coroutine in a scope. Values that are sent, thrown or returned pass through."""
    step, value = generator.send, None
    while True:
        try:
            with make():
                produced = step(value)
        except StopIteration as stop:
            return stop.value
        try:
            value = yield produced
            step = generator.send
        except GeneratorExit:
            with make():
                generator.close()
            raise
        except BaseException as error:
            step, value = generator.throw, error


def _wrap_generator(make, function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return (yield from _steps(make, function(*args, **kwargs)))

    return wrapper


_awaitable_steps = coroutine(_steps)


def _wrap_coroutine(make, function):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        return await _awaitable_steps(make, function(*args, **kwargs))

    return wrapper


def _wrap_async_generator(make, function):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        generator = function(*args, **kwargs)
        step, value = generator.asend, None
        while True:
            try:
                produced = await _awaitable_steps(make, step(value))
            except StopAsyncIteration:
                return
            try:
                value = yield produced
                step = generator.asend
            except GeneratorExit:
                await generator.aclose()
                raise
            except BaseException as error:
                step, value = generator.athrow, error

    return wrapper


def end_on_future(scope, future):
    """Ends the scope's event when the future is done; returns a future with its value. `scope` is ours, or torch's in its place."""
    if not isinstance(scope, record_function):  # torch's scope can wait for torch's futures only, and ends with its block otherwise
        return scope._call_end_callbacks_on_future(future) if hasattr(future, "then") else future
    if hasattr(future, "then"):  # torch.futures.Future

        def end_and_pass(done):
            scope._end()
            return done.value()

        return future.then(end_and_pass)
    future.add_done_callback(lambda done: scope._end())
    return future


def state_of(scope, _):
    """What copies and pickles of a scope keep."""
    return {"name": scope.name, "args": scope.args, **vars(scope)}


def set_state(scope, state):
    """Makes `scope`, which is new, a copy of the one that `state` was taken from."""
    for name, value in state.items():
        setattr(scope, name, value)


def _record_function_with_args_enter(name, *args):
    """Opens a scope that has arguments; _record_function_with_args_exit() closes it."""
    scope = _RecordFunctionFast(name, args, _is_users=True)
    scope.__enter__()
    return scope


def _record_function_with_args_exit(scope):
    scope.__exit__(None, None, None)


def enter_torchs(scope, _):
    """Enters torch's scope instead of `scope`: while torch.jit traces, for the graph, and while torch.profiler runs alone."""
    import torch

    torchs = torch.autograd.profiler.record_function(scope.name, scope.args)
    torchs.__enter__()
    return torchs
