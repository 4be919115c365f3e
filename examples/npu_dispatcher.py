"""Kernels of an NPU under the ops of a dispatcher that is written in Python.

Run it with MINDTORCH_NPU=reference anywhere, or on an Ascend NPU with LD_PRELOAD=$ASCEND_HOME_PATH/lib64/libmspti.so. The kernels are
launched by mindtorch_v2 here; any library that launches on the calling thread will do.
"""

import mindtorch_v2 as torch


def dispatch(name, kernel, *tensors):
    op = torch.profiler.dispatch_op_enter(name, "npu", tensors, {})
    try:
        return kernel(*tensors)
    finally:
        torch.profiler.dispatch_op_exit(op)


with torch.profiler.profile() as prof:
    dispatch("my::scale", lambda tensor: tensor * 0.5, torch.ones((64, 64), device="npu"))
print(prof.key_averages().table(sort_by="device_time_total"))
