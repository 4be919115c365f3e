"""Calls of nn.Module as scopes: `with_modules=True` and `with_stack=True`. The recorder calls start() and stop()."""

import itertools
import sys
import weakref

from mindtorch_v2._C import _module_scope

# What nn.Module of the embedded runtime enters around its calls: call_hook(module) is a context manager. None while no calls are recorded.
call_hook = None

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


def _children(module):
    """The names and the modules that `module` holds, read without a call of a method that the program may have overridden."""
    try:
        children = object.__getattribute__(module, "__dict__").get("_modules")
        return list(dict.items(children) if isinstance(children, dict) else children.items())  # TorchScript has a class of its own
    except Exception:  # there are none, or what the program has put there is no dictionary
        return []


def _named_modules(module):
    """What module.named_modules() yields, with the name of the class before each path."""
    hosts = (sys.modules.get("torch.nn.modules.module"), sys.modules.get("mindtorch_v2.nn.module"))
    classes = tuple(host.Module for host in hosts if host is not None)
    seen = set()
    waiting = [(type(module).__name__, module)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        yield path, module
        waiting += [(f"{path}.{name}", child) for name, child in reversed(_children(module)) if isinstance(child, classes)]


def _find(module):
    """A module without a known parent is a root: its path is its class, and the paths of its children begin with it."""
    for path, child in _named_modules(module):
        known = _known.get(id(child))
        if known is None or known.reference() is not child:
            known = _known[id(child)] = _Known(child)
        known.path = path
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


def _set_hook(hook):
    global call_hook
    call_hook = hook
    ours = sys.modules.get("mindtorch_v2.nn.module")  # which asks for the hook if it is imported later
    if ours is not None:
        ours._module_call_hook = hook


def start():
    """Called when a session begins that records the calls of modules."""
    _known.clear()
    _counts.clear()
    _set_hook(_call)


def stop():
    """Called when the session has ended."""
    _set_hook(None)
    _known.clear()
