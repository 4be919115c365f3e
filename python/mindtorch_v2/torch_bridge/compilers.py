"""Lets torch.compile, torch.export and torch.jit see torch's record_function where a program uses ours, and no profile."""

from mindtorch_v2 import torch_bridge
from mindtorch_v2._C import _set_record_function_attribute, is_profiler_enabled, record_function
from mindtorch_v2.base.warnings import warn
from mindtorch_v2.torch_bridge.imports import after_import

_profiles = []  # classes
_dynamo_is_taught = False


def introduce_to_torch() -> None:
    """Takes effect when torch and its compilers are imported; imports neither."""
    _set_record_function_attribute("_jit_override_qualname", _ScriptName())
    after_import("torch", _load_bridge)
    after_import("torch._dynamo", _teach_dynamo)


def introduce_profile(profile_class: type) -> None:
    """Compiled code ignores profiles of this class, as it ignores torch's."""
    _profiles.append(profile_class)
    if _dynamo_is_taught:
        _teach_dynamo_to_ignore(profile_class)


def _load_bridge() -> None:
    """The bridge says whether torch.jit traces. Whether there is one is told by profiles."""
    if is_profiler_enabled() and not torch_bridge.is_active():
        warn("PyTorch was imported while a profile records: this profile has none of its ops. Import torch before the profile starts")
    torch_bridge.activate_if_possible()


class _ScriptName:
    """The name by which TorchScript looks for the compiled class: torch's, which is compiled when it is asked for the first time."""

    def __init__(self):
        self._name = None

    def __get__(self, instance, owner):
        if owner is not record_function:
            raise AttributeError("_jit_override_qualname")  # a subclass has a name of its own
        if self._name is None:
            self._name = _compile_torchs_class()
        return self._name


def _compile_torchs_class() -> str:
    import torch

    torchs = torch.autograd.profiler.record_function

    def use_scope():
        with torchs("scope"):
            pass

    torch.jit.script(use_scope)
    return torch._jit_internal._qualified_name(torchs)


def _teach_dynamo() -> None:
    from mindtorch_v2.torch_bridge import dynamo

    global _dynamo_is_taught
    dynamo.teach()
    _dynamo_is_taught = True
    for profile_class in _profiles:
        _teach_dynamo_to_ignore(profile_class)


def _teach_dynamo_to_ignore(profile_class: type) -> None:
    from mindtorch_v2.torch_bridge import dynamo

    dynamo.teach_to_ignore(profile_class)
