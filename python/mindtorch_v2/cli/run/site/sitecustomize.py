"""Lets a Python program record itself. `mtprof run` puts this folder on PYTHONPATH, so that every process of the program imports it.

Interpreters of any version may find it, so it has no syntax that old ones do not know.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _record():
    """Never fails: a program that cannot be profiled still runs."""
    try:
        import _mindtorch_run_hook

        _mindtorch_run_hook.install()
    except Exception as error:
        sys.stderr.write("mtprof: " + sys.executable + " is not profiled: " + repr(error) + "\n")


def _import_the_next_sitecustomize():
    """This file hides the sitecustomize that the environment may have."""
    import importlib.machinery
    import importlib.util

    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None:
        sys.modules["sitecustomize"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


def _take_over():
    try:
        from _mindtorch_take_over_hook import install

        install()
    except Exception as error:
        print(f"mtprof: torch.profiler is not taken over: {type(error).__name__}: {error}", file=sys.stderr)


if sys.hexversion >= 0x3080000:
    if "MINDTORCH_RUN" in os.environ:
        _record()
    if os.environ.get("MINDTORCH_TAKE_OVER", "0") != "0":
        _take_over()
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
if sys.hexversion >= 0x3050000:
    _import_the_next_sitecustomize()
