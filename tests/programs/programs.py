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


def transformers_pipeline():
    from pathlib import Path

    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast, pipeline

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "short", "text", "and", "longer", "one"]
    Path("vocab.txt").write_text("\n".join(words))
    sizes = {"vocab_size": len(words), "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    model = BertForSequenceClassification(BertConfig(**sizes)).eval()
    classify = pipeline("text-classification", model=model, tokenizer=BertTokenizerFast("vocab.txt"), device="cpu")
    return lambda: classify(["a short text", "and a longer one", "text"], batch_size=2)


def transformers_whisper():
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    tokens = {"vocab_size": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 3}
    config = WhisperConfig(
        **sizes, **tokens, num_mel_bins=8, max_source_positions=20, max_target_positions=16, encoder_ffn_dim=32, decoder_ffn_dim=32
    )
    model = WhisperForConditionalGeneration(config).eval()
    model.generation_config.suppress_tokens = model.generation_config.begin_suppress_tokens = None
    sound = torch.randn(1, 8, 40)
    return lambda: model.generate(sound, max_new_tokens=4, min_new_tokens=4, do_sample=False, num_beams=2)


def transformers_vit():
    from transformers import ViTConfig, ViTForImageClassification

    config = ViTConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=16, patch_size=8)
    model = ViTForImageClassification(config).train()
    model.gradient_checkpointing_enable()
    optimizer = torch.optim.AdamW(model.parameters())
    images, labels = torch.randn(2, 3, 16, 16), torch.tensor([0, 1])

    def step():
        optimizer.zero_grad()
        model(pixel_values=images, labels=labels).loss.backward()
        optimizer.step()

    return step


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


def timm_ema():
    import timm
    from timm.data import Mixup
    from timm.loss import SoftTargetCrossEntropy
    from timm.optim import create_optimizer_v2
    from timm.utils import ModelEmaV3

    model = timm.create_model("mobilenetv3_small_050", num_classes=8)
    average, optimizer = ModelEmaV3(model, decay=0.9), create_optimizer_v2(model, opt="adamw", lr=1e-3)
    mix, loss = Mixup(mixup_alpha=0.2, cutmix_alpha=0.0, num_classes=8), SoftTargetCrossEntropy()
    images, labels = torch.randn(2, 3, 32, 32), torch.randint(0, 8, (2,))

    def step():
        optimizer.zero_grad()
        mixed, targets = mix(images.clone(), labels)
        loss(model(mixed), targets).backward()
        optimizer.step()
        average.update(model)

    return step


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


def lightning_validation():
    import lightning

    class Classification(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))

        def training_step(self, batch, index):
            loss = torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1])
            self.log("train_loss", loss, on_step=True, on_epoch=True)
            return loss

        def validation_step(self, batch, index):
            self.log("val_loss", torch.nn.functional.cross_entropy(self.layers(batch[0]), batch[1]))

        def configure_optimizers(self):
            optimizer = torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)]

    data = TensorDataset(torch.randn(8, 8), torch.randint(0, 3, (8,)))
    loaders = DataLoader(data, batch_size=4), DataLoader(data, batch_size=8)
    model = Classification()
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}

    def fit():
        stop_early = lightning.pytorch.callbacks.EarlyStopping("val_loss", patience=5)
        trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", callbacks=[stop_early], gradient_clip_val=1.0, **quiet)
        trainer.fit(model, *loaders)

    return fit


def accelerate_accumulation():
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    model = torch.nn.Sequential(torch.nn.Conv1d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(24, 1))
    optimizer = torch.optim.AdamW(model.parameters())
    parts = model, optimizer, DataLoader(TensorDataset(torch.randn(16, 1, 8)), batch_size=4), torch.optim.lr_scheduler.LinearLR(optimizer)
    model, optimizer, loader, scheduler = accelerator.prepare(*parts)

    def epoch():
        for (batch,) in loader:
            with accelerator.accumulate(model):
                accelerator.backward(model(batch).square().mean())
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()

    return epoch


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
