"""Takes over torch.profiler as soon as the program has imported torch. Imports nothing else before that."""

import importlib.machinery
import sys

_PACKAGE = "torch"


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != _PACKAGE:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            sys.meta_path.remove(_Finder)
            _take_over_after(spec.loader)
        return spec


def _take_over_after(loader):
    execute = loader.exec_module

    def execute_and_take_over(module):
        del loader.exec_module  # the loader's own again
        execute(module)
        try:
            from mindtorch_v2.compat import take_over

            take_over.take_over_from_environment()
        except Exception as error:
            print(f"mtprof: torch.profiler is not taken over: {type(error).__name__}: {error}", file=sys.stderr)

    loader.exec_module = execute_and_take_over


def install():
    sys.meta_path.insert(0, _Finder)
