"""Runs a function before or after a module is imported, without importing it."""

import importlib.abc
import importlib.util
import sys
import time
from collections.abc import Callable


class _AtImport(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, before: Callable[[], None] | None = None, after: Callable[[], None] | None = None):
        self._name, self._before, self._after = name, before, after

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self._name or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            self._follow(spec.loader)
        return spec

    def _follow(self, loader) -> None:
        execute = loader.exec_module

        def execute_and_act(module):
            vars(loader).pop("exec_module", None)  # the loader's own again; another one who waits for this module may have done it
            if self._before is not None:
                self._before()
            execute(module)
            if self._after is not None:
                self._after()

        loader.exec_module = execute_and_act


def _is_under_way(name: str) -> bool:
    return getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False)


def wait_while_imported(name: str, patience_s: float = 60.0) -> None:
    """Waits until no other thread is importing the module `name`.

    An import statement would wait too, but with the lock of a module that the other thread may need: Python then gives that thread a
    module of which a part is missing.
    """
    deadline = time.monotonic() + patience_s
    while _is_under_way(name) and time.monotonic() < deadline:
        time.sleep(0.02)


def after_import(name: str, action: Callable[[], None]) -> None:
    """Calls `action` now if the module `name` is imported, else right after it has been."""
    if name in sys.modules and not _is_under_way(name):
        action()
    else:
        sys.meta_path.insert(0, _AtImport(name, after=action))


def around_import(name: str, before: Callable[[], None], after: Callable[[], None]) -> None:
    """Calls `before` right before the module `name` is imported for the first time, and `after` right after it has been."""
    sys.meta_path.insert(0, _AtImport(name, before, after))
