"""Functions for all parameters of a model."""

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor
from mindtorch_v2.autograd.grad_mode import no_grad

__all__ = ["clip_grad_norm_", "clip_grad_value_", "parameters_to_vector", "vector_to_parameters"]


def _list(parameters):
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scales all gradients so that their common norm is at most max_norm. Returns the norm before."""
    return _runtime.clip_grad_norm_(_list(parameters), float(max_norm), float(norm_type), error_if_nonfinite)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Limits all elements of gradients to [-clip_value, clip_value]."""
    with no_grad():
        for parameter in _list(parameters):
            if parameter.grad is not None:
                parameter.grad.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters):
    """All parameters as one vector, a copy."""
    return _runtime.ops["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Copies a vector from parameters_to_vector() back into the parameters."""
    at = 0
    with no_grad():
        for parameter in parameters:
            count = parameter.numel()
            parameter.copy_(vec[at : at + count].reshape(parameter.shape))
            at += count
