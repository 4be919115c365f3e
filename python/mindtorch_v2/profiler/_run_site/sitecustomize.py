"""Lets a Python program record itself. `mtprof run` puts this folder on PYTHONPATH, so that every process of the program imports it."""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _record():
    """Never fails: a program that cannot be profiled still runs."""
    try:
        from _mindtorch_run_hook import install

        install()
    except Exception as error:
        print(f"mtprof: {sys.executable} is not profiled: {type(error).__name__}: {error}", file=sys.stderr)


def _import_the_next_sitecustomize():
    """This file hides the sitecustomize that the environment may have."""
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None:
        sys.modules["sitecustomize"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


if "MINDTORCH_RUN" in os.environ:
    _record()
_import_the_next_sitecustomize()
