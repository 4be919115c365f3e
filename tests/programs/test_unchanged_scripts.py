"""mtprof run on scripts of other libraries, as their users write them: nothing in the scripts is changed, and their steps are found.

Models are tiny, weights are random, and nothing is downloaded.
"""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.programs, pytest.mark.torch]

STEPS = 6

TRANSFORMERS = f"""
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=16, n_embd=16, n_layer=2, n_head=2))
tokens = [torch.randint(0, 64, (16,)) for _ in range(32)]
data = [{{"input_ids": ids, "labels": ids}} for ids in tokens]
arguments = TrainingArguments(
    output_dir="out", max_steps={STEPS}, per_device_train_batch_size=4, use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True
)
Trainer(model=model, args=arguments, train_dataset=data).train()
"""

LIGHTNING = f"""
import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

class Regression(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, index):
        x, y = batch
        return torch.nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters())

if __name__ == "__main__":
    loader = DataLoader(TensorDataset(torch.randn(64, 8), torch.randn(64, 1)), batch_size=4)
    trainer = lightning.Trainer(max_steps={STEPS}, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Regression(), loader)
"""

ACCELERATE = f"""
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(8, 1)
loader = DataLoader(TensorDataset(torch.randn(4 * {STEPS}, 8)), batch_size=4)
model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), loader)
for (batch,) in loader:
    optimizer.zero_grad()
    accelerator.backward(model(batch).square().mean())
    optimizer.step()
"""

BARE = f"""
import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range({STEPS}):
    optimizer.zero_grad()
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
"""

SCRIPTS = {"transformers": TRANSFORMERS, "lightning": LIGHTNING, "accelerate": ACCELERATE, "torch": BARE}


@pytest.mark.parametrize("library", SCRIPTS)
def test_the_steps_of_an_unchanged_script_are_found(library, tmp_path, program, skip_without, bridged_torch):
    skip_without(library)
    (tmp_path / "train.py").write_text(SCRIPTS[library])
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-m", "mindtorch_v2.profiler", "run", "--modules", "-o", "train.mtrec", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert f"steps     {STEPS - 1} steps, median " in done.stderr
    asked = subprocess.run([program("mtprof"), "info", "--json", tmp_path / "train.mtrec"], capture_output=True, text=True, check=True)
    info = json.loads(asked.stdout)
    assert [step["number"] for step in info["steps"]] == list(range(1, STEPS))  # step 0 contains the start of the program
    assert info["metadata"]["mtprof_run"]["step_source"] == "optimizer" and info["losses"] == []
    assert info["kinds"]["op"] > 0 and info["kinds"]["backward"] > 0 and info["kinds"]["module"] > 0
    page = tmp_path / "train.report.html"
    subprocess.run([program("mtprof"), "report", tmp_path / "train.mtrec", "-o", page, "--quiet"], check=True)
    assert page.stat().st_size > 0
