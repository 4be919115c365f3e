"""A classifier in Lightning."""

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))

    def training_step(self, batch, index):
        x, y = batch
        return nn.functional.cross_entropy(self.layers(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), fused=True)


data = TensorDataset(torch.randn(256 * 25, 256), torch.randint(0, 10, (256 * 25,)))
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False, "enable_model_summary": False}
lightning.Trainer(max_epochs=1, accelerator="cpu", **quiet).fit(Classifier(), DataLoader(data, batch_size=256))
