"""Modules made of modules."""

from mindtorch_v2.nn.module import Module
from mindtorch_v2.nn.parameter import Parameter


class Sequential(Module):
    """Each module gets the output of the one before it. Made of modules, or of a dictionary that names them."""

    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else ((str(i), m) for i, m in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(dict(list(self._modules.items())[index]))
        return list(self._modules.values())[_checked(index, len(self))]

    def __setitem__(self, index, module):
        setattr(self, list(self._modules)[_checked(index, len(self))], module)


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds modules at the end."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        """Adds a module before the one at `index`."""
        items = list(self._modules.values())
        items.insert(index, module)
        self._modules.clear()
        self.extend(items)

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __contains__(self, module):
        return any(module is own for own in self)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[str(_checked(index, len(self)))]

    def __setitem__(self, index, module):
        setattr(self, str(_checked(index, len(self))), module)


class ModuleDict(Module):
    """A dictionary of modules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def update(self, modules):
        """Adds modules by name."""
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self[name] = module

    def pop(self, key):
        """Takes a module out."""
        module = self[key]
        del self[key]
        return module

    def clear(self):
        """Takes all modules out."""
        self._modules.clear()

    def keys(self):
        """Names."""
        return self._modules.keys()

    def values(self):
        """Modules."""
        return self._modules.values()

    def items(self):
        """Names and modules."""
        return self._modules.items()

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]


class ParameterList(Module):
    """A list of parameters."""

    def __init__(self, values=()):
        super().__init__()
        for value in values:
            self.append(value)

    def append(self, value):
        """Adds a parameter at the end; a tensor becomes one."""
        self.register_parameter(str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters.values())

    def __getitem__(self, index):
        return self._parameters[str(_checked(index, len(self)))]


def _checked(index, size):
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of range")
    return index % size
