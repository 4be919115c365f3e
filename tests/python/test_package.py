"""The package as such: it can be imported, quickly and without PyTorch."""

import subprocess
import sys

import mindtorch_v2


def test_an_argument_assertion_is_a_value_error_and_an_assertion_error():
    assert issubclass(mindtorch_v2.ArgumentAssertionError, ValueError)
    assert issubclass(mindtorch_v2.ArgumentAssertionError, AssertionError)


# The BLAS of the embedded runtime would start a thread for each processor in programs that compute with another library.
THREADS_AND_BLAS = """
import os
import mindtorch_v2
import mindtorch_v2.profiler

def facts():
    with open("/proc/self/maps") as maps:
        return len(os.listdir("/proc/self/task")), "libopenblas" in maps.read()

print(*facts())
a = mindtorch_v2.ones(2, 2)
print((a @ a).tolist(), facts()[1])
"""


def test_the_blas_is_loaded_by_the_first_product():
    done = subprocess.run([sys.executable, "-c", THREADS_AND_BLAS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["1 False", "[[2.0, 2.0], [2.0, 2.0]] True"]
