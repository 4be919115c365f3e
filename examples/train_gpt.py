"""Trains a small GPT to write sentences, letter by letter. The program generates the training text.

python examples/train_gpt.py [--steps N] [--device cpu|npu]
"""

import argparse
import random

import mindtorch_v2 as torch
from mindtorch_v2 import nn
from mindtorch_v2.nn import functional as F

LETTERS = " .abcdefghijklmnopqrstuvwxyz"
LAYERS, WIDTH, HEADS, CONTEXT, BATCH = 3, 96, 4, 48, 12


def make_text(length, seed=7):
    pick = random.Random(seed).choice
    adjectives, verbs = ["small", "quick", "lazy", "red", "quiet", "old"], ["sees", "follows", "likes", "hears", "paints"]
    nouns = ["fox", "dog", "bird", "river", "child", "engine"]
    text = ""
    while len(text) < length:
        text += f"the {pick(adjectives)} {pick(nouns)} {pick(verbs)} the {pick(adjectives)} {pick(nouns)}. "
    return text


class Block(nn.Module):
    """Attention to the letters before, then two linear layers on each letter; both are added to the input."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed_forward = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def attend(self, x):
        batch, length, _ = x.shape
        heads = [part.reshape(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.join(mixed.transpose(1, 2).reshape(batch, length, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.feed_forward(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.positions = nn.Embedding(len(LETTERS), WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(LETTERS), bias=False)

    def forward(self, letters):
        where = torch.arange(letters.shape[1], device=letters.device)
        return self.head(self.norm(self.blocks(self.letters(letters) + self.positions(where))))

    @torch.no_grad()
    def write(self, start, length):
        """Continues a text, always with the likeliest letter."""
        letters = [LETTERS.index(c) for c in start]
        for _ in range(length):
            scores = self(torch.tensor([letters[-CONTEXT:]], device=self.head.weight.device))
            letters.append(scores[0, -1].argmax().item())
        return "".join(LETTERS[i] for i in letters)


def train(steps, device="cpu", after_step=lambda: None):
    """The model and the loss of each step."""
    torch.manual_seed(0)
    model = Gpt().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    text = torch.tensor([LETTERS.index(c) for c in make_text(20000)])
    losses = []
    for step in range(steps):
        starts = torch.randint(len(text) - CONTEXT - 1, (BATCH, 1))
        rows = text[starts + torch.arange(CONTEXT + 1)].to(device)
        scores = model(rows[:, :-1])
        loss = F.cross_entropy(scores.reshape(-1, len(LETTERS)), rows[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if step % max(1, steps // 10) == 0:
            print(f"step {step:4}  loss {losses[-1]:.4f}")
        after_step()
    return model, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    model, losses = train(arguments.steps, arguments.device)
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} in {len(losses)} steps on {arguments.device}")
    print(model.eval().write("the ", 60))
    return 0 if losses[-1] < losses[0] else 1


if __name__ == "__main__":
    raise SystemExit(main())
