"""A program written for torch.profiler runs unchanged after its import has been changed."""

import json
import subprocess
import sys

import pytest

# It prints what must be the same under both: no times, and of the ops only those that the model is made of.
PROGRAM = """
import json, os, sys
from collections import Counter

import torch
from torch import nn
from torch.profiler import ProfilerAction, ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

folder = sys.argv[1]
torch.manual_seed(0)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x):
        with record_function("forward"):
            return self.layers(x)


model, loss_of = Model(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
facts = {"ready": [], "actions": []}


@record_function("train")
def train():
    optimizer.zero_grad()
    loss = loss_of(model(torch.ones(5, 8)), torch.tensor([0, 1, 2, 3, 0]))
    loss.backward()
    optimizer.step()


def ready(prof):
    facts["ready"].append((prof.step_num, len(prof.get_trace_id())))
    tensorboard_trace_handler(folder, worker_name=f"step_{prof.step_num}")(prof)


with profile(
    activities=[ProfilerActivity.CPU],
    schedule=schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2),
    on_trace_ready=ready,
    record_shapes=True,
    profile_memory=True,
    with_stack=True,
    with_flops=True,
) as prof:
    for _ in range(12):
        train()
        prof.step()
        facts["actions"].append(ProfilerAction(prof.current_action).name)

averages = prof.key_averages(group_by_input_shape=True)
table = averages.table(sort_by="self_cpu_time_total", row_limit=5).splitlines()
facts["columns"] = [part.strip() for part in table[1].split("  ") if part.strip() and "FLOPs" not in part]
facts["scopes"] = Counter(event.name for event in prof.events() if event.is_user_annotation)
facts["flops"] = sum(event.flops for event in prof.events() if event.name == "aten::addmm")
facts["linear"] = sorted(str(row.input_shapes) for row in averages if row.key == "aten::linear")
facts["engine"] = Counter(event.name for event in prof.events() if event.name.startswith("autograd::engine"))
facts["count"] = {row.key: row.count for row in prof.key_averages() if row.key in ("aten::linear", "aten::relu", "aten::addmm")}
for name in sorted(os.listdir(folder)):
    with open(os.path.join(folder, name)) as file:
        written = {event["name"] for event in json.load(file)["traceEvents"] if event["ph"] == "X"}
    worker, _, suffix = name.partition(".")
    facts[worker] = suffix.partition(".")[2], sorted(name for name in written if name.startswith("ProfilerStep") or "::linear" in name)
prof.export_stacks(os.path.join(folder, "stacks.txt"), "self_cpu_time_total")
print(json.dumps(facts))
"""

CHANGED = PROGRAM.replace("import torch\n", "import mindtorch_v2 as torch\n").replace("from torch", "from mindtorch_v2")


def run(program, folder):
    folder.mkdir()
    done = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.torch
def test_a_program_for_torchs_profiler_runs_unchanged_after_changing_its_import(tmp_path):
    ours = run(CHANGED, tmp_path / "ours")
    assert ours == run(PROGRAM, tmp_path / "torch")
    assert ours["ready"] and ours["scopes"] and ours["engine"]  # not equal for want of anything to compare
