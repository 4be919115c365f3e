"""An agent that learns from an environment. The fault: the loop is held to a frame rate with time.sleep; mended: it runs freely."""

import sys
import time

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


class Environment:
    def __init__(self):
        self.state = torch.randn(128, 64)

    def step(self, action):
        self.state = (self.state + 0.01 * action).clamp(-3, 3)
        self.wait_for_frame()
        return self.state

    def wait_for_frame(self):
        if FAULT:
            time.sleep(1 / 60)


environment = Environment()
policy = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 64))
optimizer = torch.optim.AdamW(policy.parameters(), fused=True)
state = environment.state
for _ in range(40):
    action = policy(state)
    loss = (environment.step(action.detach()) - action).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state = environment.state
