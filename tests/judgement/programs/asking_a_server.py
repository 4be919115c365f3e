"""Training that reports. The fault: each step sends its loss to a server and waits for the answer; mended: a thread sends it."""

import queue
import socket
import sys
import threading
import time

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]


def serve(listener):
    connection, _ = listener.accept()
    while connection.recv(64):
        time.sleep(0.03)  # the way to the server and back
        connection.sendall(b"ok")


class Reporter:
    def __init__(self, port):
        self.connection = socket.create_connection(("127.0.0.1", port))
        self.waiting = queue.Queue()
        if not FAULT:
            threading.Thread(target=self.send_always, daemon=True).start()

    def report(self, loss):
        if FAULT:
            self.send(loss)
        else:
            self.waiting.put(loss)

    def send(self, loss):
        self.connection.sendall(f"{loss:.5f}".encode())
        self.connection.recv(2)

    def send_always(self):
        while True:
            self.send(self.waiting.get())


listener = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(listener,), daemon=True).start()
reporter = Reporter(listener.getsockname()[1])
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
x, y = torch.randn(256, 64), torch.randn(256, 1)
for _ in range(30):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    reporter.report(loss.item())
