"""The package as such: it can be imported, quickly and without PyTorch."""

import subprocess
import sys

import mindtorch_v2


def test_an_argument_assertion_is_a_value_error_and_an_assertion_error():
    assert issubclass(mindtorch_v2.ArgumentAssertionError, ValueError)
    assert issubclass(mindtorch_v2.ArgumentAssertionError, AssertionError)


# The BLAS of the embedded runtime would start a thread for each processor in programs that compute with another library.
THREADS_AND_RUNTIME = """
import os
import mindtorch_v2
from mindtorch_v2.profiler import profile, record_function

def facts():
    with open("/proc/self/maps") as maps:
        text = maps.read()
    return len(os.listdir("/proc/self/task")), "libopenblas" in text, "libmindtorch_runtime" in text

with profile(with_stack=True, with_modules=True) as prof, record_function("block"):
    pass
prof.key_averages().table()
print(*facts())
a = mindtorch_v2.ones(2, 2)
print((a @ a).tolist(), *facts()[1:])
"""


def test_the_runtime_is_loaded_when_one_of_its_names_is_first_used():
    done = subprocess.run([sys.executable, "-c", THREADS_AND_RUNTIME], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["1 False False", "[[2.0, 2.0], [2.0, 2.0]] True True"]


def test_modules_of_the_runtime_are_recorded_when_it_is_first_used_inside_the_profile():
    program = """
import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile
with profile(with_modules=True) as prof:
    torch.nn.Linear(2, 2)(torch.ones(1, 2))
names = [event.name for event in prof.events()]
assert "nn.Module: Linear_0" in names and "aten::linear" in names, names
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_names_of_the_runtime_are_those_of_the_package():
    assert {"Tensor", "ones", "float32", "nn", "load", "profiler"} <= set(dir(mindtorch_v2))
    assert all(getattr(mindtorch_v2, name) is not None for name in dir(mindtorch_v2) if not name.startswith("_"))
    assert not hasattr(mindtorch_v2, "no_such_name") and not hasattr(mindtorch_v2, "__wrapped__")
