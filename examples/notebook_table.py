"""Writes the table that a notebook shows for a profile to a page: python examples/notebook_table.py [page.html]

In a notebook the last line of a cell is enough: `prof.key_averages()`.
"""

import sys

import mindtorch_v2 as torch
from mindtorch_v2.profiler import profile, record_function

device = "npu" if torch.npu.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
inputs = torch.randn(64, 256).to(device)

with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
    for _ in range(5):
        with record_function("forward"):
            loss = (model(inputs) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        prof.step()

page = f"<!DOCTYPE html>\n<title>Profile</title>\n<body>\n{prof.key_averages()._repr_html_()}\n</body>\n"
with open(sys.argv[1] if len(sys.argv) > 1 else "profile.html", "w") as file:
    file.write(page)
