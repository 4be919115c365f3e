"""Optimizer, the base class of all optimizers, and the base class of those that the runtime implements in C++."""

from collections import defaultdict

from mindtorch_v2 import _runtime
from mindtorch_v2._runtime import Tensor
from mindtorch_v2._tensor import RemovableHandle
from mindtorch_v2.autograd.grad_mode import enable_grad

_post_hooks_of_all = {}  # of every optimizer


def register_optimizer_step_post_hook(hook):
    """Calls hook(optimizer, args, kwargs) after each step of any optimizer."""
    key = object()
    _post_hooks_of_all[key] = hook
    return RemovableHandle(lambda: _post_hooks_of_all.pop(key, None))


class _Required:
    """Marks an option that must be given."""

    def __repr__(self):
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Parameters in groups, each a dictionary of options that may be changed between steps.

    A subclass calls __init__(params, defaults) and defines step(); it keeps what it needs of a parameter p in self.state[p].
    """

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(f"params argument given to the optimizer should be an iterable of Tensors or dicts, but got {type(params)}")
        self.defaults = defaults
        self.param_groups = []
        self._hooks = {"step_pre": {}, "step_post": {}}
        self._init_state()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs):
        """Steps of subclasses are recorded as "Optimizer.step#<class>.step", and run the hooks."""
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _recorded_step(cls.__dict__["step"])

    def _init_state(self):
        self.state = defaultdict(dict)

    def add_param_group(self, param_group):
        """Adds parameters with their own options. Options that the group does not name are those of the optimizer."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change "
                "between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        param_group = {**param_group, "params": [p[1] if isinstance(p, tuple) else p for p in params]}
        self._check_params(param_group["params"])
        for name, value in self.defaults.items():
            if value is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, value)
        self._add_core_group(param_group)
        self.param_groups.append(param_group)

    def _check_params(self, params):
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(param).__name__}")
            if not (param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
            if id(param) in known:
                raise ValueError("some parameters appear in more than one parameter group")

    def _add_core_group(self, group):
        """Called by optimizers that the runtime implements."""

    def step(self, closure=None):
        """Changes the parameters by their gradients."""
        raise NotImplementedError

    def zero_grad(self, set_to_none=True):
        """Resets the gradients of all parameters."""
        with _runtime.NamedScope(f"Optimizer.zero_grad#{type(self).__name__}.zero_grad"):
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if set_to_none:
                        param.grad = None
                    else:
                        param.grad.detach_().zero_()

    # ---- hooks ----

    def register_step_pre_hook(self, hook):
        """Calls hook(optimizer, args, kwargs) before each step. Its result replaces the arguments."""
        return self._add_hook("step_pre", hook)

    def register_step_post_hook(self, hook):
        """Calls hook(optimizer, args, kwargs) after each step."""
        return self._add_hook("step_post", hook)

    def _add_hook(self, kind, hook):
        key = object()
        self._hooks[kind][key] = hook
        return RemovableHandle(lambda: self._hooks[kind].pop(key, None))

    # ---- state ----

    def _packed_groups(self):
        numbers, groups = {}, []
        for group in self.param_groups:
            packed = {name: value for name, value in group.items() if name != "params"}
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        return numbers, groups

    def state_dict(self):
        """State by number of parameter, and the groups with numbers instead of parameters."""
        numbers, groups = self._packed_groups()
        state = {(numbers[id(k)] if isinstance(k, Tensor) else k): v for k, v in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Takes over options and state. A dictionary without groups and state changes nothing."""
        groups = state_dict["param_groups"]
        if not groups and not state_dict["state"]:
            return
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(a["params"]) != len(b["params"]) for a, b in zip(groups, self.param_groups, strict=True)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        params = {
            number: param
            for saved, own in zip(groups, self.param_groups, strict=True)
            for number, param in zip(saved["params"], own["params"], strict=True)
        }
        for saved, own in zip(groups, self.param_groups, strict=True):
            own.update({name: value for name, value in saved.items() if name != "params"})
        self._load_state(params, state_dict["state"])

    def _load_state(self, params, state):
        self.state = defaultdict(dict)
        for key, value in state.items():
            if key in params:
                self.state[params[key]] = {
                    name: item.to(params[key].device).clone() if isinstance(item, Tensor) else item for name, item in value.items()
                }
            else:
                self.state[key] = value

    def __repr__(self):
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params")
        return text + ")"


def _recorded_step(step):
    def recorded(self, *args, **kwargs):
        hooks = self._hooks
        for hook in list(hooks["step_pre"].values()):
            result = hook(self, args, kwargs)
            if result is not None:
                args, kwargs = result
        if isinstance(self, RuntimeOptimizer):  # the runtime records its own steps
            result = step(self, *args, **kwargs)
        else:
            with _runtime.NamedScope(f"Optimizer.step#{type(self).__name__}.step"):
                result = step(self, *args, **kwargs)
        for hook in [*hooks["step_post"].values(), *_post_hooks_of_all.values()]:
            hook(self, args, kwargs)
        return result

    recorded.__doc__ = step.__doc__
    recorded.__name__ = "step"
    recorded.__wrapped__ = step
    return recorded


class RuntimeOptimizer(Optimizer):
    """An optimizer of the runtime: options are kept in Python; C++ checks them and has the state and the arithmetic."""

    def __init__(self, params, defaults):
        invalid = _runtime.find_invalid_option(self._options(defaults))
        if invalid is not None:
            problem, name = invalid
            if not name:
                raise ValueError(problem)
            value = defaults["betas"][int(name[-1]) - 1] if name.startswith("beta") else defaults[name]
            raise ValueError(f"{problem}: {value}")
        super().__init__(params, defaults)

    def _init_state(self):
        self._core = None

    def _options(self, group):
        """The numbers of a group by the runtime's names. `betas` are two of them."""
        options = {}
        for name, value in group.items():
            if name == "betas":
                options["beta1"], options["beta2"] = float(value[0]), float(value[1])
            elif name in self._option_names:
                options[name] = float(value)
        return options

    def _add_core_group(self, group):
        if self._core is None:
            self._core = _runtime.make_optimizer(self._core_name, group["params"], self._options(group))
        else:
            self._core.add_param_group(group["params"], self._options(group))

    def step(self, closure=None):
        """Changes every parameter that has a gradient. With a closure, computes the loss again first, and returns it."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        self._core.step([self._options(group) for group in self.param_groups])
        return loss

    def zero_grad(self, set_to_none=True):
        """Resets the gradients of all parameters."""
        self._core.zero_grad(set_to_none)

    @property
    def state(self):
        """The state of each parameter that was changed. Tensors share memory with the optimizer; the step is a copy."""
        params = [p for group in self.param_groups for p in group["params"]]
        return {params[number]: self._own_state(*state) for number, state in self._core.state().items()}

    def _own_state(self, step, tensors):
        return ({"step": _runtime.ops["full"]((), float(step))} if self._shows_step else {}) | tensors

    def _load_state(self, params, state):
        order = [id(p) for group in self.param_groups for p in group["params"]]
        loaded = {}
        for number, own in state.items():
            tensors = {name: value for name, value in own.items() if isinstance(value, Tensor) and name != "step"}
            loaded[order.index(id(params[number]))] = (int(own.get("step", 1)), tensors)
        self._core.load_state(loaded)

    def __getstate__(self):
        """Copied and pickled with its state, but without its hooks."""
        return {"defaults": self.defaults, "param_groups": self.param_groups, "state": self.state_dict()["state"]}

    def __setstate__(self, saved):
        self.defaults, self.param_groups = saved["defaults"], []
        self._hooks = {"step_pre": {}, "step_post": {}}
        self._init_state()
        for group in saved["param_groups"]:
            self.add_param_group(group)
        params = [p for group in self.param_groups for p in group["params"]]
        self._load_state(dict(enumerate(params)), saved["state"])

    _shows_step = True
    _core_name = ""
    _option_names = frozenset()


def refuse(**options):
    """Refuses options of torch that have no meaning here, unless they have their default."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"{name}={value!r} is not supported: steps are always computed one parameter at a time, in C++")
