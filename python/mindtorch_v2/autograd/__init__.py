"""torch.autograd's names: those of its profiler, and those about gradients, which the embedded runtime has."""

import importlib as _importlib

__all__ = ["Function", "backward", "enable_grad", "grad", "no_grad", "profiler", "set_grad_enabled"]

_SUBMODULES = frozenset({"function", "grad_mode", "profiler", "profiler_util"})
# Name -> the module that has it, which is imported when the name is first used.
_LAZY = {
    "Function": "mindtorch_v2.autograd.function",
    "backward": "mindtorch_v2.autograd._gradients",
    "enable_grad": "mindtorch_v2.autograd.grad_mode",
    "grad": "mindtorch_v2.autograd._gradients",
    "no_grad": "mindtorch_v2.autograd.grad_mode",
    "set_grad_enabled": "mindtorch_v2.autograd.grad_mode",
    "DeviceType": "mindtorch_v2.profiler",
    "ProfilerActivity": "mindtorch_v2.profiler",
    "ProfilerConfig": "mindtorch_v2.compat.profiler_config",
    "ProfilerState": "mindtorch_v2.compat.profiler_config",
    "_KinetoEvent": "mindtorch_v2.events.kineto_event",
    "_ProfilerResult": "mindtorch_v2.events.profiler_result",
    "kineto_available": "mindtorch_v2.profiler",
    "_supported_activities": "mindtorch_v2.profiler",
    "_record_function_with_args_enter": "mindtorch_v2.capture.record_function",
    "_record_function_with_args_exit": "mindtorch_v2.capture.record_function",
}


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY:
        return getattr(_importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
