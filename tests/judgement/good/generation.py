"""Text that a GPT-2 of transformers with random weights generates."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_positions=128, n_embd=128, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1)).eval()
prompt = torch.randint(2, 500, (4, 16))
for _ in range(3):
    model.generate(prompt, attention_mask=torch.ones_like(prompt), min_new_tokens=30, max_new_tokens=30, do_sample=False, pad_token_id=0)
