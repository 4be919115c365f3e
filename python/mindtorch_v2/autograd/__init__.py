"""Gradients: backward passes, gradients of chosen inputs, functions with a backward of their own."""

import importlib as _importlib

from mindtorch_v2 import _C
from mindtorch_v2._C import Tensor
from mindtorch_v2.autograd.function import Function
from mindtorch_v2.autograd.grad_mode import enable_grad, no_grad, set_grad_enabled

__all__ = ["Function", "backward", "enable_grad", "grad", "no_grad", "profiler", "set_grad_enabled"]


def _as_tuple(tensors):
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _gradients_for(outputs, gradients):
    """One gradient (or None) for each output; a single one may be given bare."""
    if gradients is None:
        return ()
    gradients = _as_tuple(gradients)
    if len(gradients) != len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    return gradients


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the gradients of `tensors` to the `.grad` of all leaves, or of `inputs` only."""
    tensors = _as_tuple(tensors)
    gradients = _gradients_for(tensors, grad_tensors)
    if inputs is None:
        _C.backward(tensors, gradients, retain_graph, create_graph)
        return
    inputs = _as_tuple(inputs)
    if not inputs:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    found = _C.grad(tensors, inputs, gradients, retain_graph, create_graph, True)
    with set_grad_enabled(create_graph):
        for tensor, gradient in zip(inputs, found, strict=True):
            if gradient is not None:
                tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """Gradients of the sum of `outputs` with respect to `inputs`, as a tuple. Nothing is added to any `.grad`."""
    if is_grads_batched:
        raise NotImplementedError("is_grads_batched=True is not supported: call grad() once for each gradient")
    if allow_unused is False and materialize_grads:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    outputs, inputs = _as_tuple(outputs), _as_tuple(inputs)
    gradients = _gradients_for(outputs, grad_outputs)
    unused = bool(allow_unused) or materialize_grads
    found = _C.grad(outputs, inputs, gradients, retain_graph, create_graph, unused)
    if not materialize_grads:
        return found
    return tuple(_C.ops["zeros_like"](x) if g is None else g for x, g in zip(inputs, found, strict=True))


# torch has these names of the profiler here, too; they are imported when asked for.
_OF_THE_PROFILER = {
    "DeviceType": "mindtorch_v2.profiler",
    "ProfilerActivity": "mindtorch_v2.profiler",
    "ProfilerConfig": "mindtorch_v2.autograd._profiler_config",
    "ProfilerState": "mindtorch_v2.autograd._profiler_config",
    "_KinetoEvent": "mindtorch_v2.autograd._kineto_event",
    "_ProfilerResult": "mindtorch_v2.autograd._profiler_result",
    "kineto_available": "mindtorch_v2.profiler",
    "_supported_activities": "mindtorch_v2.profiler",
    "_record_function_with_args_enter": "mindtorch_v2.profiler._record_function",
    "_record_function_with_args_exit": "mindtorch_v2.profiler._record_function",
}


def __getattr__(name):
    if name in ("profiler", "profiler_util"):
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _OF_THE_PROFILER:
        return getattr(_importlib.import_module(_OF_THE_PROFILER[name]), name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
