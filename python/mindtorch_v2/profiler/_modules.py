"""Calls of nn.Module as scopes: `with_modules=True`. The recorder calls start() and stop()."""

import weakref

from mindtorch_v2._C import _module_scope
from mindtorch_v2.nn import module as _nn_module

# id(module) -> (a reference to it, where it is: "Net.encoder.0"). An id may be given to another module when the first is gone.
_places = {}


def _find_place(module):
    """A module that is in no known one is a root: its place is its class, and those of its children begin there."""
    root = type(module).__name__
    for path, child in module.named_modules():
        _places[id(child)] = weakref.ref(child), f"{root}.{path}" if path else root
    return _places[id(module)]


def _call(module, name):
    place = _places.get(id(module))
    if place is None or place[0]() is not module:
        place = _find_place(module)
    return _module_scope(name, place[1])


def start():
    """A session that records modules begins."""
    _places.clear()
    _nn_module._module_call_hook = _call


def stop():
    """It has ended."""
    _nn_module._module_call_hook = None
    _places.clear()
