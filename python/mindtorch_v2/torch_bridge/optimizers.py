"""Steps of torch's optimizers with the tensors that they own, for sessions that tell the purpose of memory.

Torch calls an empty method, Optimizer._optimizer_step_code, at the end of each step, so that a tracer of Python calls sees the optimizer.
An event with its name is recorded at the same place.
"""

import weakref

from mindtorch_v2._C import _record_optimizer_step


class OptimizerSteps:
    """Records steps while a session wants the owners of memory."""

    def __init__(self):
        self._hook = None

    def start(self) -> None:
        from torch.optim.optimizer import Optimizer, register_optimizer_step_post_hook

        self.stop()
        line = Optimizer._optimizer_step_code.__code__.co_firstlineno
        name, told = f"torch/optim/optimizer.py({line}): _optimizer_step_code", weakref.WeakSet()

        def has_stepped(optimizer, args, kwargs):
            _record_optimizer_step(name, _owner(optimizer) + (() if optimizer in told else _own_tensors(optimizer)))
            told.add(optimizer)

        self._hook = register_optimizer_step_post_hook(has_stepped)

    def stop(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None


def _owner(optimizer):
    return id(optimizer), id(type(optimizer))


def _own_tensors(optimizer):
    """For each parameter: the tensor, its gradient, how many tensors its state has, and their names and tensors."""
    from torch import Tensor

    tensors = []
    for group in optimizer.param_groups:
        for parameter in group.get("params", ()):
            state = optimizer.state.get(parameter, {})
            kept = [each for each in state.items() if isinstance(each[0], str) and isinstance(each[1], Tensor)]
            tensors += (parameter, parameter.grad, len(kept))
            for name, tensor in kept:
                tensors += (name, tensor)
    return tuple(tensors)
