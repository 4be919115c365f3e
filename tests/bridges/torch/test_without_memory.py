"""Sessions that start and stop while memory is refused to the bridge: what cannot be recorded has a reason, and the program goes on.

Tests mindtorch/bridges/torch/bridge and mindtorch/bridges/torch/op_callbacks.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, random, torch
from mindtorch_v2.profiler import profile

library = ctypes.CDLL(None)
library.mindtorch_faults.argtypes = [ctypes.c_uint64, ctypes.c_uint32]
library.mindtorch_faults_so_far.restype = ctypes.c_uint64
one_thread = {one_thread}


def profiled():
    from mindtorch_v2.profiler import _ExperimentalConfig
    return profile(profile_memory=True, record_shapes=True, experimental_config=_ExperimentalConfig(profile_all_threads=not one_thread))


with profiled() as first:
    torch.ones(3).add(1)
seeds, refused = random.Random(3), 0
for _ in range(400):
    prof = profiled()
    library.mindtorch_faults(seeds.getrandbits(63), 30_000)
    try:
        prof.start()
        torch.ones(3).add(1)
        prof.stop()
    except (MemoryError, OSError, RuntimeError):
        refused += 1
    library.mindtorch_faults(0, 0)
    if prof.running:
        prof.stop()
with profiled() as last:
    torch.ones(3).add(1)
print(library.mindtorch_faults_so_far() > 100, 0 < refused < 400, "aten::add" in [event.name for event in last.events()])
"""


@pytest.mark.parametrize("one_thread", [False, True])
def test_a_session_that_gets_no_memory_ends_no_program(torch, build_folder, one_thread):
    library = build_folder / "lib" / "libstress_faults.so"
    if not library.exists():
        pytest.skip(f"{library} has not been built")
    environment = os.environ | {"LD_PRELOAD": str(library)}
    command = [sys.executable, "-X", "faulthandler", "-c", PROGRAM.format(one_thread=one_thread)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "True True True\n", done.stderr[-4000:]
