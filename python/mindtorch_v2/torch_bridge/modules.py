"""Calls of nn.Modules as scopes, named as torch names them: "nn.Module: Linear_0"."""

import ctypes
import threading
import weakref


class ModuleCalls:
    """Global forward hooks while a session wants modules. Each thread has a stack of open scopes."""

    def __init__(self, calls: ctypes.CDLL):
        self._open = calls.mindtorch_torch_open_scope
        self._close = calls.mindtorch_torch_close_scope
        self._hooks = []
        self._names = weakref.WeakKeyDictionary()
        self._seen = {}  # class name -> instances seen
        self._stacks = []
        self._thread = threading.local()

    def start(self) -> None:
        from torch.nn.modules import module

        self.stop()
        self._names.clear()
        self._seen.clear()
        self._hooks = [
            module.register_module_forward_pre_hook(self._enter),
            module.register_module_forward_hook(self._exit, always_call=True),
        ]

    def stop(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        # Scopes of calls that the session's end has cut off.
        for stack in self._stacks:
            while stack:
                self._close(stack.pop())
        self._stacks = []
        self._thread = threading.local()

    def _enter(self, module, _inputs) -> None:
        self._stack().append(self._open(self._name(module), 1))

    def _exit(self, _module, _inputs, _output) -> None:
        stack = self._stack()
        if stack:
            self._close(stack.pop())

    def _stack(self) -> list:
        try:
            return self._thread.stack
        except AttributeError:
            self._thread.stack = []
            self._stacks.append(self._thread.stack)
            return self._thread.stack

    def _name(self, module) -> bytes:
        name = self._names.get(module)
        if name is None:
            kind = type(module).__name__
            number = self._seen.get(kind, 0)
            self._seen[kind] = number + 1
            name = self._names[module] = f"nn.Module: {kind}_{number}".encode()
        return name
