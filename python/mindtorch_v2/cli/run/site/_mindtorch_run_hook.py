"""Starts the recorder of `mtprof run` as soon as the program imports torch or mindtorch_v2. Imports nothing else before that."""

import sys
from _thread import get_ident

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
    """Asks all other finders, among them those of editable installs, so that a module is found as it would be without this one."""

    def __init__(self):
        self._searches = set()

    def find_spec(self, name, path=None, target=None):
        search = (name, get_ident())
        if name not in _WATCHED or search in self._searches:  # another finder may ask all others too
            return None
        self._searches.add(search)
        try:
            return _watched(self._spec_of_others(name, path, target), name)
        finally:
            self._searches.discard(search)

    def _spec_of_others(self, name, path, target):
        for finder in list(sys.meta_path):
            find_spec = getattr(finder, "find_spec", None)
            spec = find_spec(name, path, target) if finder is not self and find_spec is not None else None
            if spec is not None:
                return spec
        return None


def _watched(spec, name):
    if spec is not None and hasattr(spec.loader, "exec_module"):
        spec.loader = _Loader(spec.loader, name)
    return spec


def tell(text):
    """Leaves a message for the launcher, which prints it: standard error belongs to the program."""
    try:
        import json
        import os
        import time

        folder = json.loads(os.environ["MINDTORCH_RUN"])["folder"]
        path = os.path.join(folder, f"{os.getpid()}-{time.time_ns()}.remark")
        with open(path + ".tmp", "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        os.rename(path + ".tmp", path)
    except Exception:
        pass  # the run is over, or this process can reach neither its folder nor Python's own modules: the program comes first


def _imported(name):
    """Failures of the recorder are told and do not reach the program."""
    global _busy
    if _busy and name == "mindtorch_v2":
        return
    was_busy, _busy = _busy, True
    try:
        from mindtorch_v2.cli.run import process

        process.program_has_imported(name)
    except ImportError as error:
        tell(f"not recorded, because {sys.executable} cannot import the profiler: {error}")
    except Exception as error:
        tell(f"not recorded: {type(error).__name__}: {error}")
    finally:
        _busy = was_busy


def install():
    sys.meta_path.insert(0, _Finder())
    for name in _WATCHED:
        if name in sys.modules:  # a .pth file may import it before
            _imported(name)
