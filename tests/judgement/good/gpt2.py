"""A GPT-2 of transformers with random weights."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=64, n_embd=128, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
tokens = torch.randint(0, 500, (8, 64))
for _ in range(20):
    optimizer.zero_grad()
    model(input_ids=tokens, labels=tokens).loss.backward()
    optimizer.step()
