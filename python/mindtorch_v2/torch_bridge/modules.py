"""Calls of torch's nn.Modules as scopes, named as torch names them: "nn.Module: Linear_0"."""

import threading


class ModuleCalls:
    """Global forward hooks while a session wants modules. Each thread has a stack of open scopes."""

    def __init__(self):
        self._hooks = []
        self._thread = threading.local()

    def start(self) -> None:
        from torch.nn.modules import module

        self.stop()
        # One at a time: a KeyboardInterrupt between them must not lose a hook.
        self._hooks.append(module.register_module_forward_pre_hook(self._enter))
        self._hooks.append(module.register_module_forward_hook(self._exit, always_call=True))

    def stop(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._thread = threading.local()  # calls that the session's end has cut off stay unfinished

    def _enter(self, module, _inputs) -> None:
        from mindtorch_v2.profiler._modules import _call

        scope = _call(module)
        scope.__enter__()
        self._stack().append(scope)

    def _exit(self, _module, _inputs, _output) -> None:
        stack = self._stack()
        if stack:
            stack.pop().__exit__(None, None, None)

    def _stack(self) -> list:
        try:
            return self._thread.stack
        except AttributeError:
            self._thread.stack = []
            return self._thread.stack
