"""A server in asyncio. The fault: a handler asks its database with a call that blocks the loop; mended: it awaits the answer."""

import asyncio
import sys
import time

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
CLIENT = """
import socket, sys, threading
def ask():
    for _ in range(15):
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
            connection.sendall(b"question\\n")
            connection.recv(100)
threads = [threading.Thread(target=ask) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 1000)).eval()


async def find_user(name):
    if FAULT:
        time.sleep(0.03)  # a database driver that blocks
    else:
        await asyncio.sleep(0.03)
    return hash(name) % 7


async def handle(reader, writer):
    question = await reader.readline()
    user = await find_user(question)
    with torch.no_grad():
        answer = model(torch.full((16, 512), float(user))).argmax(-1)
    writer.write(b"%d\n" % answer[0])
    await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = await asyncio.create_subprocess_exec(sys.executable, "-c", CLIENT, str(port))
    await client.wait()
    server.close()


asyncio.run(main())
