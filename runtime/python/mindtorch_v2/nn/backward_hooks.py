"""Full backward hooks: functions in the graph before and after a module collect the gradients of its inputs and outputs."""

from mindtorch_v2._runtime import Tensor
from mindtorch_v2.autograd.function import Function


class _Watch(Function):
    """Passes tensors on unchanged, and their gradients through a function."""

    @staticmethod
    def forward(ctx, see, *tensors):
        ctx.see = see
        ctx.set_materialize_grads(False)
        return tuple(t.detach() for t in tensors)

    @staticmethod
    def backward(ctx, *gradients):
        return (None, *ctx.see(gradients))


class BackwardWatch:
    """One call of a module: hooks run when the gradients of its inputs are known, or those of its outputs if no input has one."""

    def __init__(self, module, hooks, pre_hooks):
        self._module, self._hooks, self._pre_hooks = module, hooks, pre_hooks
        self._grad_output = None
        self._watches_inputs = False

    def watch_inputs(self, args):
        return self._watch(args, self._see_inputs, is_input=True)

    def watch_outputs(self, output):
        if isinstance(output, Tensor):
            return self._watch((output,), self._see_outputs)[0]
        return self._watch(output, self._see_outputs) if isinstance(output, tuple) else output

    def _watch(self, items, see, is_input=False):
        places = [i for i, item in enumerate(items) if isinstance(item, Tensor)]
        if not any(items[i].requires_grad for i in places):
            return items
        self._watches_inputs = self._watches_inputs or is_input

        def see_all(gradients):
            full = [None] * len(items)
            for i, gradient in zip(places, gradients, strict=True):
                full[i] = gradient
            full = see(tuple(full))
            return [full[i] for i in places]

        watched = iter(_Watch.apply(see_all, *(items[i] for i in places)))
        return tuple(next(watched) if isinstance(item, Tensor) else item for item in items)

    def _see_outputs(self, gradients):
        for hook in self._pre_hooks:
            gradients = _replaced(gradients, hook(self._module, gradients))
        self._grad_output = gradients
        if not self._watches_inputs:
            for hook in self._hooks:
                hook(self._module, (None,), gradients)
        return gradients

    def _see_inputs(self, gradients):
        for hook in self._hooks:
            gradients = _replaced(gradients, hook(self._module, gradients, self._grad_output))
        return gradients


def _replaced(gradients, result):
    if result is None:
        return gradients
    result = (result,) if isinstance(result, Tensor) else tuple(result)
    if len(result) != len(gradients):
        raise RuntimeError(f"Backward hook returned an invalid number of grad_input, got {len(result)}, but expected {len(gradients)}")
    return result
