"""Programs of other libraries, as their users write them, with tiny models and random weights. Each function returns what is profiled."""

import torch
from torch.utils.data import DataLoader, TensorDataset

TINY_GPT2 = {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 2, "bos_token_id": 0, "eos_token_id": 1}


def transformers_trainer():
    from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

    model = GPT2LMHeadModel(GPT2Config(n_positions=16, **TINY_GPT2))
    tokens = [torch.randint(0, 64, (16,)) for _ in range(8)]
    data = [{"input_ids": ids, "labels": ids} for ids in tokens]
    arguments = TrainingArguments(
        output_dir="out", max_steps=2, per_device_train_batch_size=4, use_cpu=True, report_to=[], save_strategy="no", disable_tqdm=True
    )
    return lambda: Trainer(model=model, args=arguments, train_dataset=data).train()


def transformers_generate():
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(n_positions=32, **TINY_GPT2)).eval()
    prompt = torch.randint(2, 64, (2, 4))
    options = {"min_new_tokens": 6, "max_new_tokens": 6, "do_sample": False, "pad_token_id": 0}
    return lambda: model.generate(prompt, attention_mask=torch.ones_like(prompt), **options)


def _timm(name, **options):
    import timm

    model = timm.create_model(name, num_classes=8, **options)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    images, labels = torch.randn(2, 3, 32, 32), torch.randint(0, 8, (2,))

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def timm_resnet():
    return _timm("resnet18")


def timm_vit():
    return _timm("vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2)


def lightning_fit():
    import lightning

    class Regression(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 1)

        def training_step(self, batch, index):
            x, y = batch
            return torch.nn.functional.mse_loss(self.layer(x), y)

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    loader = DataLoader(TensorDataset(torch.randn(8, 8), torch.randn(8, 1)), batch_size=4)
    model = Regression()
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
    return lambda: lightning.Trainer(max_steps=2, accelerator="cpu", **quiet).fit(model, loader)


def accelerate_loop():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(8, 1)
    loader = DataLoader(TensorDataset(torch.randn(8, 8)), batch_size=4)
    model, optimizer, loader = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1), loader)

    def epoch():
        for (batch,) in loader:
            optimizer.zero_grad()
            accelerator.backward(model(batch).square().mean())
            optimizer.step()

    return epoch
