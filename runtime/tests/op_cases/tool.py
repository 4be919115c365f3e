"""Cases as op_tool reads them, its answers, and how two answers are compared."""

import json
import subprocess

import numpy as np

from .spec import Case, Dtype, T

# Relative and absolute difference that arithmetic in another order may make.
TOLERANCE = {Dtype.FLOAT32: (2e-5, 1e-5), Dtype.FLOAT64: (1e-9, 1e-11)}


def schemas_of(tool) -> dict[str, str]:
    """Name -> schema, of every op of the runtime."""
    text = subprocess.run([tool, "--schemas"], capture_output=True, check=True, encoding="utf-8").stdout
    return {line.partition("(")[0]: line for line in text.splitlines()}


def encoded(value, random):
    if isinstance(value, T):
        return value.encoded(random)
    if isinstance(value, list):
        return {"tensors": [tensor and tensor.encoded(random) for tensor in value]}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    return value


def request_of(case: Case) -> dict:
    random = case.random()
    args = [encoded(value, random) for value in case.args]
    return {"op": case.op, "args": args, "options": {name: encoded(value, random) for name, value in case.options.items()}}


def run_tool(tool, requests, *arguments):
    """The answers, and how many bytes were not given back."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run([tool, *arguments], input=lines, capture_output=True, check=False, encoding="utf-8")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, f"op_tool ended with {done.returncode} in {requests[len(answers)]}: {done.stderr}"
    return answers[:-1], answers[-1]["left"]


def elements(answer):
    return np.frombuffer(bytes.fromhex(answer["data"]), Dtype(answer["dtype"]).name.lower()).reshape(answer["size"])


def compare_elements(ours, torchs, precision, scale):
    a, b = elements(ours), elements(torchs)
    if Dtype(ours["dtype"]).is_floating:
        relative, absolute = TOLERANCE[min(precision, ours["dtype"])]
        with np.errstate(all="ignore"):
            same = np.isclose(a, b, relative * scale, absolute * scale, equal_nan=True)
    else:
        same = a == b
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        yield f"element {at} is {a[at]!r}, torch's is {b[at]!r}"


def compare_tensors(what, ours, torchs, precision, keys=(), values=True, nothing_is_zero=False, scale=1):
    """What differs. Second gradients that are zero, or not a number where torch has none, may be missing."""
    if ours is None or torchs is None:
        present = ours or torchs
        if present is not None and not (nothing_is_zero and (np.abs(np.nan_to_num(elements(present))) < 1e-9).all()):
            yield f"{what} is {'missing' if ours is None else 'there'}, torch's is {'missing' if torchs is None else 'there'}"
        return
    for key in ("dtype", "size", *keys):
        if ours[key] != torchs[key]:
            yield f"{what}: {key} is {ours[key]!r}, torch's is {torchs[key]!r}"
            if key in ("dtype", "size"):
                return
    if values:
        yield from (f"{what}: {difference}" for difference in compare_elements(ours, torchs, precision, scale))
