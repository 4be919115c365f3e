"""Runs a function once a module has been imported, without importing it."""

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable


class _AfterImport(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, action: Callable[[], None]):
        self._name, self._action = name, action

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
            del loader.exec_module  # the loader's own again
            execute(module)
            self._action()

        loader.exec_module = execute_and_act


def after_import(name: str, action: Callable[[], None]) -> None:
    """Calls `action` now if the module `name` is imported, else right after it has been."""
    if name in sys.modules and not getattr(sys.modules[name].__spec__, "_initializing", False):
        action()
    else:
        sys.meta_path.insert(0, _AfterImport(name, action))
