"""Backward passes, and gradients of chosen inputs."""

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor
from mindtorch_v2.autograd.grad_mode import set_grad_enabled

__all__ = ["backward", "grad"]


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
        _runtime.backward(tensors, gradients, retain_graph, create_graph)
        return
    inputs = _as_tuple(inputs)
    if not inputs:
        raise RuntimeError("'inputs' argument to backward() cannot be empty.")
    found = _runtime.grad(tensors, inputs, gradients, retain_graph, create_graph, True)
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
    found = _runtime.grad(outputs, inputs, gradients, retain_graph, create_graph, unused)
    if not materialize_grads:
        return found
    return tuple(_runtime.ops["zeros_like"](x) if g is None else g for x, g in zip(inputs, found, strict=True))
