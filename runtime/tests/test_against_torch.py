"""Every op against PyTorch: elements, types, geometry, aliasing, errors, names of nodes, gradients and gradients of gradients.

op_cases holds the cases; op_tool runs them in one process, torch in this one.
"""

import re
import warnings

import numpy as np
import pytest
from op_cases import TABLE, Case, Dtype, T
from op_cases.tool import compare_tensors, request_of, run_tool, schemas_of

pytestmark = pytest.mark.torch


# Where the graph has another node than torch's, because the work is divided among ops in another way.
OTHER_NODES = {
    # x + 2 is add.Tensor with a tensor made of the number in torch's Python, and add.Scalar with the same name of the node here.
    *(f"aten::{op}.Scalar" for op in ("add", "sub", "mul", "div")),
    # Composites of other ops.
    "aten::matmul",
    "aten::linear",
    "aten::cross_entropy_loss",
    "aten::dropout",
    "aten::rms_norm",
    "aten::_fused_rms_norm",
    "aten::scaled_dot_product_attention",
    "aten::value_selecting_reduction_backward",
    # torch cannot differentiate it.
    "aten::silu_backward",
}
# Ops without a kernel for the CPU in torch; what calls them is compared.
NOT_IN_TORCH = {"aten::_fused_rms_norm_backward"}

# ---- a case in torch ----


class Torch:
    def __init__(self):
        import torch

        torch.set_num_threads(1)
        self.torch = torch
        self.dtypes = {Dtype[name.upper()]: getattr(torch, name) for name in "uint8 int32 int64 float32 float64 bool".split()}
        self.numbers = {dtype: number for number, dtype in self.dtypes.items()}

    def op(self, name):
        packet, _, overload = name.removeprefix("aten::").partition(".")
        return getattr(getattr(self.torch.ops.aten, packet), overload or "default")

    def storage(self, spec):
        storage = self.torch.from_numpy(np.frombuffer(bytes.fromhex(spec["data"]), Dtype(spec["dtype"]).name.lower()).copy())
        return storage

    def view(self, storage, spec):
        return storage.as_strided(spec["size"], spec["stride"], spec["offset"])

    def describe(self, tensor, arguments=()):
        if tensor is None:
            return None
        owner = tensor.untyped_storage()._cdata
        alias = next((i for i, argument in enumerate(arguments) if argument.untyped_storage()._cdata == owner), -1)
        return {
            "dtype": int(self.numbers[tensor.dtype]),
            "size": list(tensor.shape),
            "stride": list(tensor.stride()),
            "offset": tensor.storage_offset(),
            "alias": alias,
            "requires_grad": tensor.requires_grad,
            "node": tensor.grad_fn.name() if tensor.grad_fn is not None else "",
            "data": tensor.detach().contiguous().numpy(force=True).tobytes().hex(),
        }


class TorchCase:
    """One case in torch; fills in the gradients of the request on the way."""

    def __init__(self, torch: Torch, case: Case, request: dict):
        self.torch, self.op, self.request, self.random = torch, torch.op(case.op), request, case.random()
        self.tensors, self.inputs, self.written = [], [], []
        self.grads_of, self.twice = case.grads_of, case.twice
        schema = {argument.name: argument for argument in self.op._schema.arguments}
        names = list(schema)
        self.args = [self.value(value, schema[name]) for name, value in zip(names, request["args"], strict=False)]
        self.options = {name: self.value(value, schema[name]) for name, value in request["options"].items()}

    def value(self, value, argument):
        kind = str(argument.type)
        if isinstance(value, dict) and "float" in value:
            return float(value["float"])
        if isinstance(value, dict) and "tensors" in value:
            return [spec and self.tensor(spec, False) for spec in value["tensors"]]
        if isinstance(value, dict):
            return self.tensor(value, argument.alias_info is not None and argument.alias_info.is_write)
        if value is not None and argument.name in ("dtype", "input_dtype"):
            return self.torch.dtypes[value]
        if value is not None and argument.name == "memory_format":
            return (self.torch.torch.contiguous_format, self.torch.torch.preserve_format)[value]
        if kind == "List[bool]":
            return [bool(flag) for flag in value]
        if kind == "List[int]" and isinstance(value, int):
            return [value]
        return list(value) if isinstance(value, tuple) else value

    def tensor(self, spec, is_written):
        storage = self.torch.storage(spec)
        if is_written:
            storage.requires_grad_(spec["grad"])
            self.written.append(storage.clone())
            tensor = self.torch.view(self.written[-1], spec)
        else:
            tensor = self.torch.view(storage, spec).detach().requires_grad_(spec["grad"])
        self.tensors.append(tensor)
        if spec["grad"]:
            self.inputs.append(storage if is_written else tensor)
        return tensor

    def gradients_for(self, outputs):
        """A gradient for each output that has one, as a request and as tensors."""
        specs, sources, grads = [], [], []
        for output in outputs:
            if output is None or not output.requires_grad:
                specs.append(None)
                continue
            specs.append(T(tuple(output.shape), self.torch.numbers[output.dtype]).encoded(self.random))
            sources.append(output)
            grads.append(self.torch.view(self.torch.storage(specs[-1]), specs[-1]).requires_grad_())
        return specs, sources, grads

    def gradients(self, sources, inputs, grads, create_graph):
        return self.torch.torch.autograd.grad(sources, inputs, grads, create_graph=create_graph, allow_unused=True)

    def run(self):
        try:
            result = self.op(*self.args, **self.options)
        except Exception as error:
            return {"error": error_kind(error), "text": str(error).splitlines()[0]}
        outputs = [self.scalar(output) for output in flattened(result)]
        answer = {"outputs": [self.torch.describe(output, self.tensors) for output in outputs]}
        answer["written"] = [self.torch.describe(storage) for storage in self.written]
        specs, sources, grads = self.gradients_for(outputs[: self.grads_of])
        if not sources:
            return answer
        self.request["grads"] = specs
        try:
            first = self.gradients(sources, self.inputs, grads, True)
        except Exception as error:
            return answer | {"backward error": error_kind(error)}
        answer["grads"] = [self.torch.describe(grad) for grad in first]
        specs, sources, grad_grads = self.gradients_for(first)
        if sources and self.twice:
            # Where torch cannot differentiate twice there is nothing to compare with.
            try:
                second = self.gradients(sources, [*self.inputs, *grads], grad_grads, False)
            except RuntimeError:
                return answer
            self.request["second"] = specs
            answer["second"] = [self.torch.describe(grad) for grad in second]
        return answer

    def scalar(self, output):
        if isinstance(output, bool | int | float):
            kinds = {bool: Dtype.BOOL, int: Dtype.INT64, float: Dtype.FLOAT64}
            return self.torch.torch.tensor(output, dtype=self.torch.dtypes[kinds[type(output)]])
        return output


def flattened(result):
    if isinstance(result, list | tuple):
        return [item for part in result for item in flattened(part)]
    return [result]


def error_kind(error):
    kinds = (IndexError, TypeError, ValueError, RuntimeError)
    return next((kind.__name__ for kind in kinds if isinstance(error, kind)), type(error).__name__)


# ---- comparing ----


def differences(case, ours, torchs):
    if "error" in ours or "error" in torchs:
        if ours.get("error") != torchs.get("error") or ours.get("stage") not in (None, "forward"):
            ours_says, torch_says = (f"{answer.get('error')} ({answer.get('text')})" for answer in (ours, torchs))
            yield f"we raise {ours_says} in {ours.get('stage')}, torch raises {torch_says}"
        return
    if len(ours["outputs"]) != len(torchs["outputs"]):
        yield f"{len(ours['outputs'])} outputs, torch has {len(torchs['outputs'])}"
        return
    for i, (mine, theirs) in enumerate(zip(ours["outputs"], torchs["outputs"], strict=True)):
        keys = ["alias", *(("stride", "offset") if theirs and theirs["alias"] >= 0 else ())]
        if case.grads_of is None or i < case.grads_of:
            keys += ["requires_grad", *(() if case.op in OTHER_NODES else ("node",))]
        yield from compare_tensors(f"output {i}", mine, theirs, case.precision, keys, case.compares_values)
    for i, (mine, theirs) in enumerate(zip(ours["written"], torchs["written"], strict=True)):
        yield from compare_tensors(f"storage {i}", mine, theirs, case.precision, (), case.compares_values)
    if "backward error" in torchs or not case.compares_values:
        return
    for name, scale in (("grads", 1), ("second", 10)):
        for i, (mine, theirs) in enumerate(zip(ours.get(name, ()), torchs.get(name, ()), strict=True)):
            what = f"gradient {i}" if name == "grads" else f"second gradient {i}"
            yield from compare_tensors(what, mine, theirs, case.precision, (), True, name == "second", scale)


@pytest.fixture(scope="module")
def found(program):
    """op -> what differs, over all cases."""
    torch = Torch()
    cases = [case for op in TABLE.values() for case in op if case.op not in NOT_IN_TORCH]
    requests = [request_of(case) for case in cases]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [TorchCase(torch, case, request).run() for case, request in zip(cases, requests, strict=True)]
    answers, left = run_tool(program("op_tool"), requests)
    assert left == 0, f"{left} bytes of memory were not given back"
    result = {op: [] for op in TABLE}
    for case, ours, torchs in zip(cases, answers, expected, strict=True):
        result[case.op].extend(f"{case}: {difference}" for difference in differences(case, ours, torchs))
    return result


def test_every_op_has_cases(program):
    assert sorted(set(schemas_of(program("op_tool"))) ^ set(TABLE)) == []


def signature(schema):
    """Names, types, what is written to and what must be named; how a default is written is another matter."""
    schema = re.sub(r"SymInt", "int", re.sub(r"\[\d+\]", "[]", schema))
    schema = schema.replace("MemoryFormat?", "MemoryFormat")  # None is contiguous in aten::contiguous
    return re.sub(r"=(\[[^]]*\]|[^,)]*)", "=", schema).replace("(a -> *)", "(a)")


def test_schemas_are_torchs(program):
    torch = Torch()
    ours = {op: signature(schema) for op, schema in schemas_of(program("op_tool")).items()}
    assert ours == {op: signature(str(torch.op(op)._schema)) for op in ours}


@pytest.mark.parametrize("op", sorted(TABLE))
def test_op_gives_what_torch_gives(found, op):
    wrong = found[op]
    assert not wrong, f"{len(wrong)} differences, such as\n" + "\n".join(wrong[:8])
