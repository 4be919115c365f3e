"""Switching gradients on and off, for a block or a function."""

import functools

from mindtorch_v2._runtime import is_grad_enabled
from mindtorch_v2._runtime import set_grad_enabled as _set

_CO_GENERATOR = 0x20  # as inspect.CO_GENERATOR, which takes long to import


class _GradMode:
    """A context manager that is also a decorator. One object may be entered again, also within itself."""

    def __init__(self, mode):
        self._mode = mode
        self._former = []

    def __enter__(self):
        self._former.append(is_grad_enabled())
        _set(self._mode)

    def __exit__(self, *exception):
        _set(self._former.pop())

    def __call__(self, function):
        code = getattr(function, "__code__", None)
        if code is not None and code.co_flags & _CO_GENERATOR:
            return self._decorate_generator(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with _GradMode(self._mode):
                return function(*args, **kwargs)

        return wrapper

    def _decorate_generator(self, function):
        """The mode holds while the generator runs, not while its caller does."""

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            generator = function(*args, **kwargs)
            send, value = generator.send, None
            while True:
                with _GradMode(self._mode):
                    try:
                        result = send(value)
                    except StopIteration as end:
                        return end.value
                try:
                    send, value = generator.send, (yield result)
                except GeneratorExit:
                    with _GradMode(self._mode):
                        generator.close()
                    raise
                except BaseException as error:
                    send, value = generator.throw, error

        return wrapper


class no_grad(_GradMode):
    """Nothing in the block or function is recorded for gradients."""

    def __new__(cls, function=None):
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self, function=None):
        super().__init__(False)


class enable_grad(_GradMode):
    """Gradients are on in the block or function, also inside no_grad()."""

    def __new__(cls, function=None):
        return super().__new__(cls) if function is None else cls()(function)

    def __init__(self, function=None):
        super().__init__(True)


class set_grad_enabled(_GradMode):
    """Sets the mode at once; as context manager or decorator, until the end of it."""

    def __init__(self, mode):
        super().__init__(bool(mode))
        self._outer = is_grad_enabled()
        _set(self._mode)

    def __enter__(self):
        self._former.append(self._outer)
        _set(self._mode)

    def __call__(self, function):
        _set(self._outer)
        return super().__call__(function)
