"""The contract of a device: every op gives there what it gives on the CPU, bit by bit. Elements, geometry, errors, gradients and gradients
of gradients are compared; a device is one that op_tool knows.
"""

import os
import zlib

import numpy as np
import pytest
from op_cases import TABLE, Dtype, T
from op_cases.tool import request_of, run_tool, schemas_of

# The reference NPU, and a device that does its work as late as it may.
DEVICES = ("npu", "late")


def same_answer(case, here, there):
    if "error" not in here or "error" not in there:
        return here == there or (not case.compares_values and here.keys() == there.keys())
    # What only the elements show is found by the device, later; everything else is checked before anything is launched.
    found_by_device = "failed on stream" in there["text"]
    depends_on_elements = "out of" in here["text"]
    kind = here["error"] == there["error"] or found_by_device
    return kind and here["stage"] == there["stage"] and (depends_on_elements or not found_by_device)


def gradients_for(answers, op):
    """A gradient for each tensor of an answer that has one; None if there is nothing to differentiate."""
    random = np.random.default_rng(zlib.crc32(op.encode()))
    specs = [None] * len(answers)
    for i, answer in enumerate(answers):
        if answer and answer["requires_grad"]:
            specs[i] = T(tuple(answer["size"]), Dtype(answer["dtype"])).encoded(random)
    return specs if any(specs) else None


@pytest.fixture(scope="module")
def on_cpu(program):
    """All cases with gradients to start from, as requests, and the answers of the CPU."""
    tool = program("op_tool")
    requests = [request_of(case) for op in TABLE.values() for case in op]
    for given, asked in (("outputs", "grads"), ("grads", "second")):
        for request, answer in zip(requests, run_tool(tool, requests)[0], strict=True):
            if grads := gradients_for(answer.get(given, ()), request["op"]):
                request[asked] = grads
    answers, left = run_tool(tool, requests)
    assert left == 0, f"{left} bytes of memory were not given back"
    return requests, answers


@pytest.fixture(scope="module", params=DEVICES)
def differences(request, program, on_cpu):
    """op -> what differs on a device, over all cases."""
    os.environ["MINDTORCH_NPU"] = "reference"
    requests, expected = on_cpu
    answers, left = run_tool(program("op_tool"), requests, request.param)
    assert left == 0, f"{left} bytes of memory were not given back"
    result = {op: [] for op in TABLE}
    cases = [case for op in TABLE.values() for case in op]
    for case, here, there in zip(cases, expected, answers, strict=True):
        if not same_answer(case, here, there):
            result[case.op].append(f"{case}: {there}, on the CPU {here}")
    return result


def test_every_op_has_cases(program):
    assert sorted(set(schemas_of(program("op_tool"))) ^ set(TABLE)) == []


@pytest.mark.parametrize("op", sorted(TABLE))
def test_op_gives_what_the_cpu_gives(differences, op):
    wrong = differences[op]
    assert not wrong, f"{len(wrong)} differences, such as\n" + "\n".join(wrong[:4])
