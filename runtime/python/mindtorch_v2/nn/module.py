"""Module: the base class of everything that has parameters."""

import itertools
import sys
from collections import OrderedDict, namedtuple

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor
from mindtorch_v2._tensor import RemovableHandle
from mindtorch_v2.autograd.grad_mode import no_grad
from mindtorch_v2.nn.module_tree import ModuleTree

# While calls of modules are recorded: hook(module) returns a context manager that is entered around forward. None costs one test a call.
_module_call_hook = getattr(sys.modules.get("mindtorch_v2.capture.modules"), "call_hook", None)


class IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The missing and the unexpected names that load_state_dict() found."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"


class Module(ModuleTree):
    """Parameters, buffers and child modules are attributes that are assigned; forward() computes."""

    training: bool

    def __init__(self):
        super().__init__()
        fields = self.__dict__
        fields["training"] = True
        fields["_forward_pre_hooks"] = OrderedDict()
        fields["_forward_hooks"] = OrderedDict()
        fields["_backward_pre_hooks"] = OrderedDict()
        fields["_backward_hooks"] = OrderedDict()

    def forward(self, *args, **kwargs):
        """Computes the output. Every subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # ---- calls ----

    def __call__(self, *args, **kwargs):
        if _module_call_hook is None and not (
            self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        if _module_call_hook is None:
            return self._call_with_hooks(args, kwargs)
        with _module_call_hook(self):
            return self._call_with_hooks(args, kwargs)

    def _call_with_hooks(self, args, kwargs):
        for hook, with_kwargs in list(self._forward_pre_hooks.values()):
            if with_kwargs:
                result = hook(self, args, kwargs)
                if result is not None:
                    args, kwargs = result
            else:
                result = hook(self, args)
                if result is not None:
                    args = result if isinstance(result, tuple) else (result,)
        watch = None
        if self._backward_hooks or self._backward_pre_hooks:
            from mindtorch_v2.nn.backward_hooks import BackwardWatch

            watch = BackwardWatch(self, list(self._backward_hooks.values()), list(self._backward_pre_hooks.values()))
            args = watch.watch_inputs(args)
        output = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._forward_hooks.values()):
            result = hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
            if result is not None:
                output = result
        return output if watch is None else watch.watch_outputs(output)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls hook(module, args) before forward. Its result replaces the arguments."""
        return _add_hook(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls hook(module, args, output) after forward. Its result replaces the output."""
        return _add_hook(self._forward_hooks, (hook, with_kwargs), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls hook(module, grad_input, grad_output) when the gradients of the inputs are known. Its result replaces them."""
        return _add_hook(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls hook(module, grad_output) before gradients are computed. Its result replaces them."""
        return _add_hook(self._backward_pre_hooks, hook, prepend)

    # ---- modes ----

    def train(self, mode=True):
        """Sets the training mode of this module and all below it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Sets the evaluation mode."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Switches gradients of all parameters on or off."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Resets the gradients of all parameters."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad.detach_().zero_()

    # ---- types and devices ----

    def _apply(self, convert):
        for parameter in self.parameters():
            with no_grad():
                parameter.data = convert(parameter.data)
                if parameter.grad is not None:
                    gradient, parameter.grad = parameter.grad, None
                    parameter.grad = convert(gradient.detach())
        for module in self.modules():
            for name, buffer in module._buffers.items():
                if buffer is not None:
                    module._buffers[name] = convert(buffer)
        return self

    def to(self, *args, **kwargs):
        """Moves parameters and buffers, in place: to(device), to(dtype), to(device, dtype), to(tensor)."""
        probe = _runtime.ops["empty"]((0,)).to(*args, **kwargs)
        if not probe.is_floating_point():
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={probe.dtype}")
        changes_type = any(isinstance(a, _runtime.dtype | Tensor) for a in (*args, *kwargs.values()))

        changes_device = any(isinstance(a, str | _runtime.device | Tensor) for a in (*args, *kwargs.values()))

        def convert(tensor):
            device = probe.device if changes_device else tensor.device
            return tensor.to(device, probe.dtype if changes_type and tensor.is_floating_point() else tensor.dtype)

        return self._apply(convert)

    def cpu(self):
        """Moves parameters and buffers to host memory."""
        return self._apply(lambda tensor: tensor.cpu())

    def npu(self, device=None):
        """Moves parameters and buffers to an NPU."""
        return self._apply(lambda tensor: tensor.npu(device))

    def float(self):
        """Converts floating point parameters and buffers to float32."""
        return self.to(_runtime.dtypes["float32"])

    def double(self):
        """Converts floating point parameters and buffers to float64."""
        return self.to(_runtime.dtypes["float64"])

    # ---- state ----

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """Parameters and persistent buffers by name. They share memory with the module."""
        destination = OrderedDict() if destination is None else destination
        for name, tensor in itertools.chain(self._parameters.items(), self._buffers.items()):
            if tensor is not None and name not in self._non_persistent_buffers:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies values by name. Sizes must agree; with strict, names must agree too. An error changes nothing."""
        own = self.state_dict(keep_vars=True)
        missing = [name for name in own if name not in state_dict]
        unexpected = [name for name in state_dict if name not in own]
        problems = []
        if strict and unexpected:
            problems.append("Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{n}"' for n in unexpected)))
        if strict and missing:
            problems.append("Missing key(s) in state_dict: {}. ".format(", ".join(f'"{n}"' for n in missing)))
        problems += [
            f"size mismatch for {name}: copying a param with shape {state_dict[name].shape} from checkpoint, "
            f"the shape in current model is {tensor.shape}."
            for name, tensor in own.items()
            if name in state_dict and state_dict[name].shape != tensor.shape
        ]
        if problems:
            raise RuntimeError("Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(problems)))
        with no_grad():
            for name, tensor in own.items():
                if name in state_dict:
                    if assign:
                        tensor.data = state_dict[name].detach()
                    else:
                        tensor.copy_(state_dict[name])
        return IncompatibleKeys(missing, unexpected)

    def __setstate__(self, state):
        self.__dict__.update(state)

    # ---- text ----

    def extra_repr(self):
        """The text between the parentheses of repr(), without the children."""
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        lines = self.extra_repr().split("\n") if self.extra_repr() else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({''.join(lines)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def _indented(text):
    return text.replace("\n", "\n  ")


def _add_hook(hooks, hook, prepend):
    key = object()
    hooks[key] = hook
    if prepend:
        hooks.move_to_end(key, last=False)
    return RemovableHandle(lambda: hooks.pop(key, None))
