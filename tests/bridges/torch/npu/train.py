"""A program that knows nothing of the profiler: it trains on the NPU for two steps."""

import torch
import torch_npu

model = torch.nn.Linear(16, 4).to("npu")
for _ in range(2):
    x = torch.ones(8, 16, device="npu")
    model(x).relu().sum().backward()
    torch.npu.synchronize()
print("launches:", torch_npu.backend.npu_launches())
