"""Calls of nn.Module as scopes: `with_modules=True` and `with_stack=True`. The recorder calls start() and stop()."""

import itertools
import weakref

from mindtorch_v2._C import _module_scope
from mindtorch_v2.nn import module as _nn_module

_known = {}  # id(module) -> _Known. An id may be given to another module when the first is gone.
_counts = {}  # name of a class -> the number of its next module


class _Known:
    """A module of this recording."""

    __slots__ = ("name", "path", "reference")

    def __init__(self, module):
        self.reference = weakref.ref(module)
        self.path = ""  # where it is: "Net.encoder.0"
        self.name = None  # "nn.Module: Linear_0": modules of a class are counted, as torch does, in the order of their first calls

    def called(self, module):
        if self.name is None:
            kind = type(module).__name__
            self.name = f"nn.Module: {kind}_{next(_counts.setdefault(kind, itertools.count()))}"
        return self.name


def _find(module):
    """A module without a known parent is a root: its path is its class, and the paths of its children begin with it."""
    root = type(module).__name__
    for path, child in module.named_modules():
        known = _known.get(id(child))
        if known is None or known.reference() is not child:
            known = _known[id(child)] = _Known(child)
        known.path = f"{root}.{path}" if path else root
        if child is module:
            found = known
    return found  # which is no longer in _known if the session ends here


def describe(module):
    """The name and the path of our module or torch's, and whether paths of other modules may have changed.

    Both hosts share the numbering of the modules of a class.
    """
    known = _known.get(id(module))
    is_new = known is None or known.reference() is not module
    if is_new:
        known = _find(module)
    return known.called(module), known.path, is_new


def _call(module):
    """The scope of a call of our module."""
    name, path, _ = describe(module)
    return _module_scope(name, path)


def start():
    """Called when a session begins that records the calls of modules."""
    _known.clear()
    _counts.clear()
    _nn_module._module_call_hook = _call


def stop():
    """Called when the session has ended."""
    _nn_module._module_call_hook = None
    _known.clear()
