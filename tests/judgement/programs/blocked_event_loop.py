"""An asyncio server that answers with a model. The fault: each answer also computes a digest of a large text in Python; mended: hashlib."""

import asyncio
import hashlib
import sys

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 1000)).eval()


def digest(body):
    if not FAULT:
        return hashlib.sha256(body).hexdigest()
    value = 0
    for byte in body:
        value = (value * 31 + byte) % 1_000_000_007
    return str(value)


async def answer(reader, writer):
    body = await reader.readline()
    with torch.no_grad():
        best = model(torch.randn(32, 512)).argmax(-1).sum().item()
    writer.write(f"{best} {digest(body * 30)}\n".encode())
    await writer.drain()
    writer.close()


async def ask(port):
    for _ in range(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x" * 1000 + b"\n")
        await reader.readline()
        writer.close()
        await asyncio.sleep(0.005)


async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        await asyncio.gather(*(ask(server.sockets[0].getsockname()[1]) for _ in range(2)))


asyncio.run(main())
