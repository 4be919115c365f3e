"""Kernels of an NPU under the ops of a dispatcher that is written in Python.

Run it with MINDTORCH_NPU=reference anywhere, or on an Ascend NPU with LD_PRELOAD=$ASCEND_HOME_PATH/lib64/libmspti.so.
"""

import mindtorch_v2 as torch  # launches the kernels here; any library that does so on the calling thread will do
from mindtorch_v2.profiler import dispatch_op_enter, dispatch_op_exit, profile


def dispatch(name, kernel, *tensors):
    token = dispatch_op_enter(name, "npu", tensors, {})
    try:
        return kernel(*tensors)
    finally:
        dispatch_op_exit(token)


def main():
    x = torch.ones((64, 64), device="npu")
    with profile() as prof:
        for _ in range(3):
            x = dispatch("my::scale", lambda tensor: tensor * 0.5, x)
        torch.npu.synchronize()
    print(prof.key_averages().table(sort_by="device_time_total", row_limit=5))


if __name__ == "__main__":
    main()
