"""Functions with a user-defined backward."""

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor
from mindtorch_v2.autograd.grad_mode import no_grad

_zeros = _runtime.ops["zeros"]


class FunctionCtx:
    """The data that forward passes to backward: tensors by save_for_backward(), anything else as attributes."""

    def __init__(self):
        self.needs_input_grad = ()
        self._to_save = ()
        self._dirty = ()
        self._plain = ()
        self._materializes = True
        self._saved = None

    def save_for_backward(self, *tensors):
        """Keeps tensors for backward, which sees them as saved_tensors. Only inputs and outputs of forward should be kept so."""
        self._to_save = tensors

    @property
    def saved_tensors(self):
        """The tensors as they were kept. RuntimeError if they have been freed, or changed in place since."""
        return self._saved.unpack() if self._saved is not None else tuple(self._to_save)

    def mark_dirty(self, *tensors):
        """Says which inputs forward has changed in place."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Says which outputs have no gradient."""
        self._plain = tensors

    def set_materialize_grads(self, value):
        """Whether backward gets zeros (the default) or None for outputs that nothing depends on."""
        self._materializes = bool(value)


class Function:
    """Base of functions with a forward(ctx, ...) and a backward(ctx, ...), both static methods; called as Subclass.apply(...)."""

    @staticmethod
    def forward(*args, **kwargs):
        """Computes the result. With setup_context() defined, it does not get a ctx."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """A gradient (or None) for each argument of forward."""
        raise NotImplementedError("You must implement the backward function for your custom autograd.Function to use it with backward.")

    setup_context = None

    @classmethod
    def apply(cls, *args):
        """Runs forward; if an input requires a gradient, the result goes through backward."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(a, Tensor) and a.requires_grad for a in args)
        tracks = _runtime.is_grad_enabled() and any(ctx.needs_input_grad)
        with no_grad():
            if cls.setup_context is None:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
        if not tracks:
            return result
        is_single = not isinstance(result, tuple)
        outputs = (result,) if is_single else result
        connected = iter(_connect(cls, ctx, args, [o for o in outputs if isinstance(o, Tensor)]))
        outputs = tuple(next(connected) if isinstance(o, Tensor) else o for o in outputs)
        return outputs[0] if is_single else outputs


def _connect(cls, ctx, args, outputs):
    """Makes the outputs results of a node that calls cls.backward."""
    is_tensor = [isinstance(a, Tensor) for a in args]  # the arguments themselves are not kept
    inputs = [a for a in args if isinstance(a, Tensor)]
    layouts = [(o.shape, o.dtype, o.device) for o in outputs]

    def run_backward(*gradients):
        if ctx._materializes:
            gradients = [_zeros(s, dtype=t, device=d) if g is None else g for g, (s, t, d) in zip(gradients, layouts, strict=True)]
        found = cls.backward(ctx, *gradients)
        found = found if isinstance(found, tuple) else (found,)
        count = len(is_tensor)
        if len(found) < count or any(g is not None for g in found[count:]):
            raise RuntimeError(
                f"function {cls.__name__}Backward returned an incorrect number of gradients (expected {count}, got {len(found)})"
            )
        return [_checked(cls, i, g) for i, g in enumerate(found[:count]) if is_tensor[i]]

    ctx._saved = _runtime.SavedTensors()
    to_save, ctx._to_save = ctx._to_save, ()
    name = f"{cls.__name__}Backward"
    return _runtime.connect_function(name, run_backward, inputs, outputs, ctx._dirty, ctx._plain, to_save, ctx._saved)


def _checked(cls, index, gradient):
    if gradient is not None and not isinstance(gradient, Tensor):
        kind = type(gradient).__name__
        raise TypeError(f"function {cls.__name__}Backward returned a {kind} as gradient {index}, expected a Tensor or None")
    return gradient
