"""Starts the recorder of `mtprof run` as soon as the program imports torch or mindtorch_v2. Imports nothing else before that."""

import importlib.machinery
import sys

_WATCHED = ("torch", "mindtorch_v2", "mindtorch_v2.optim.optimizer")
_busy = False  # the recorder imports mindtorch_v2 itself


class _Loader:
    """Loads a module as its own loader does, and then tells the recorder."""

    def __init__(self, loader, name):
        self._loader = loader
        self._name = name

    def __getattr__(self, attribute):
        return getattr(self._loader, attribute)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _imported(self._name)


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in _WATCHED:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, name)
        return spec


def _imported(name):
    """Failures of the recorder are told and do not reach the program."""
    global _busy
    if _busy and name == "mindtorch_v2":
        return
    was_busy, _busy = _busy, True
    try:
        from mindtorch_v2.profiler import _run_process

        _run_process.program_has_imported(name)
    except Exception as error:
        print(f"mtprof: this process is not profiled: {type(error).__name__}: {error}", file=sys.stderr)
    finally:
        _busy = was_busy


def install():
    sys.meta_path.insert(0, _Finder)
