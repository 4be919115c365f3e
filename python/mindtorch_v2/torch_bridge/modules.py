"""Calls of torch's nn.Modules as scopes, named as torch names them: "nn.Module: Linear_0".

Hooks or a replaced method would be a part of the program that Dynamo compiles. Therefore the interpreter's call of a module is recorded,
which no Python code can see: compiled code is the same before, during and after a profile.
"""

from mindtorch_v2._C import _record_calls_of, _stop_recording_calls


class ModuleCalls:
    """Records calls while a session wants modules or stacks."""

    def start(self) -> None:
        from torch.nn import Module

        from mindtorch_v2.capture.modules import describe

        _record_calls_of(Module, describe, _own_tensors)

    def stop(self) -> None:
        _stop_recording_calls()


def _own_tensors(module):
    """The addresses of a module and its class, then the name, the tensor and the gradient of each of its own parameters."""
    tensors = [id(module), id(type(module))]
    for name, parameter in module._parameters.items():
        if parameter is not None:
            tensors += (name, parameter, parameter.grad)
    return tuple(tensors)
