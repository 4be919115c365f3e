"""What Dynamo has to know about our record_function and our profiles. Imported after torch._dynamo."""

import torch

from mindtorch_v2._C import record_function


def traced(name, args=None):
    """What a call of our class means in compiled code. Dynamo resolves torch by this module's globals."""
    return torch.autograd.profiler.record_function(name, args)


def ignored(*args, **kwargs):
    """What a profile means in compiled code. Dynamo warns that it is ignored."""
    return torch.profiler.profile()


def teach() -> None:
    """Makes the scopes of compiled code torch's: whether they become part of the graph is decided by Dynamo's options."""
    from torch._dynamo.decorators import substitute_in_graph

    substitute_in_graph(record_function, is_embedded_type=True, skip_signature_check=True)(traced)
    _teach_about_objects()


def teach_to_ignore(profile_class: type) -> None:
    from torch._dynamo.decorators import substitute_in_graph

    substitute_in_graph(profile_class, is_embedded_type=True, skip_signature_check=True)(ignored)


def _teach_about_objects() -> None:
    """Scopes that were made outside the compiled code. Releases of torch that break the graph at theirs do so at ours."""
    try:
        from torch._dynamo.guards import GuardBuilder
        from torch._dynamo.variables.builder import VariableBuilder
        from torch._dynamo.variables.ctx_manager import RecordFunctionVariable
    except ImportError:
        return

    def wrap(builder, scope):
        builder.install_guards(GuardBuilder.ID_MATCH)
        return RecordFunctionVariable(scope)

    VariableBuilder._type_dispatch()[record_function] = wrap
