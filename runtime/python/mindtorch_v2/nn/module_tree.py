"""The tree of a module: its parameters, buffers and children, and iteration over them."""

from mindtorch_v2._runtime import Tensor
from mindtorch_v2.nn.parameter import Buffer, Parameter


class ModuleTree:
    """Parameters, buffers and child modules are attributes that are assigned."""

    def __init__(self):
        fields = self.__dict__
        fields["_parameters"] = {}
        fields["_buffers"] = {}
        fields["_modules"] = {}
        fields["_non_persistent_buffers"] = set()

    # ---- attributes ----

    def __setattr__(self, name, value):
        fields = self.__dict__
        parameters = fields.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _forget(self, name, ("_buffers", "_modules"))
            parameters[name] = value
        elif isinstance(value, ModuleTree):
            if parameters is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _forget(self, name, ("_parameters", "_buffers"))
            fields["_modules"][name] = value
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{type(value).__name__}' as parameter '{name}' (torch.nn.Parameter or None expected)")
            parameters[name] = None
        elif parameters is not None and name in fields["_modules"]:
            if value is not None:
                raise TypeError(f"cannot assign '{type(value).__name__}' as child module '{name}' (torch.nn.Module or None expected)")
            fields["_modules"][name] = None
        elif isinstance(value, Buffer) and parameters is not None:
            self.register_buffer(name, value, value.persistent)
        elif parameters is not None and name in fields["_buffers"]:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(f"cannot assign '{type(value).__name__}' as buffer '{name}' (torch.Tensor or None expected)")
            fields["_buffers"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        fields = self.__dict__
        if "_modules" in fields:  # not before __init__()
            if name in (parameters := fields["_parameters"]):
                return parameters[name]
            if name in (modules := fields["_modules"]):
                return modules[name]
            if name in (buffers := fields["_buffers"]):
                return buffers[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                self._non_persistent_buffers.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        return sorted({*object.__dir__(self), *self._parameters, *self._buffers, *self._modules})

    def _check_name(self, name, kind):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def register_parameter(self, name, param):
        """The same as assigning an attribute. None registers a name without a parameter."""
        self._check_name(name, "parameter")
        if hasattr(self, name) and name not in self._parameters:
            raise KeyError(f"attribute '{name}' already exists")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{type(param).__name__}' object to parameter '{name}' (torch.nn.Parameter or None required)")
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that is not trained. It is part of the state dict unless persistent is False."""
        self._check_name(name, "buffer")
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(f"attribute '{name}' already exists")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = tensor
        (self._non_persistent_buffers.discard if persistent else self._non_persistent_buffers.add)(name)

    def add_module(self, name, module):
        """The same as assigning an attribute."""
        self._check_name(name, "module")
        if hasattr(self, name) and name not in self._modules:
            raise KeyError(f"attribute '{name}' already exists")
        if module is not None and not isinstance(module, ModuleTree):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._modules[name] = module

    register_module = add_module

    # ---- the tree ----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """This module and all below it, with their names; each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self):
        """This module and all below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self):
        """The modules directly below, with their names."""
        memo = set()
        for name, module in self._modules.items():
            if module is not None and module not in memo:
                memo.add(module)
                yield name, module

    def children(self):
        """The modules directly below."""
        for _, module in self.named_children():
            yield module

    def _named_members(self, kind, prefix, recurse, remove_duplicate):
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for place, module in modules:
            for name, tensor in module.__dict__[kind].items():
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                yield f"{place}.{name}" if place else name, tensor

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """All parameters with their names; shared ones once."""
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """All parameters."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """All buffers with their names."""
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target):
        """The module of a dotted name."""
        module = self
        for part in target.split(".") if target else ():
            if part not in module._modules:
                raise AttributeError(f"{type(module).__name__} has no attribute `{part}`")
            module = module._modules[part]
        return module

    def get_parameter(self, target):
        """The parameter of a dotted name."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module._parameters:
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        return module._parameters[name]

    def apply(self, fn):
        """Calls fn(module) for all modules, children first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self


def _forget(module, name, kinds):
    """Removes a name from all other tables, before it is registered in one."""
    fields = module.__dict__
    fields.pop(name, None)
    for kind in kinds:
        fields[kind].pop(name, None)
