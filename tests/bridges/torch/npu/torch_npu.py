"""Stands in for torch_npu in programs of the tests: importing it gives PyTorch the device "npu", which is npu_backend.cpp.

NPU_BACKEND names the compiled backend. As torch_npu does, it renames PrivateUse1 and registers a module torch.npu.
"""

import ctypes
import os
from types import ModuleType

import torch

backend = ctypes.CDLL(os.environ["NPU_BACKEND"])
backend.npu_launches.restype = ctypes.c_int64
backend.npu_collective.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64]
backend.npu_register()

npu = ModuleType("torch.npu")
npu.is_available = lambda: True
npu.device_count = lambda: 1
npu.current_device = lambda: 0
npu.is_initialized = lambda: True
npu._is_in_bad_fork = lambda: False
npu.synchronize = lambda *_: backend.npu_synchronize()
torch.utils.rename_privateuse1_backend("npu")
torch._register_device_module("npu", npu)
torch.utils.generate_methods_for_privateuse1_backend()
