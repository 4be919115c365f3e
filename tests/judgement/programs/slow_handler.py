"""A server with a thread for each request. The fault: the answer is put together in Python, letter by letter; mended: by the library."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from torch import nn

FAULT = sys.argv[1:] != ["mended"]
REQUESTS = 40
CLIENT = f"""
import sys, urllib.request
for _ in range({REQUESTS}):
    urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1], data=b"x").read()
"""
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 1000)).eval()


def render(scores):
    if not FAULT:
        return json.dumps(scores)
    text = "["
    for score in scores:
        for letter in f"{score:.40f}":
            text = text + letter
        text = text.replace("  ", " ") + ", "
    return text[:-2] + "]"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with torch.no_grad():
            scores = model(torch.randn(32, 512)).softmax(-1).mean(0)
        body = render(scores.tolist()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
client = subprocess.Popen([sys.executable, "-c", CLIENT, str(server.server_port)])
threading.Thread(target=lambda: (client.wait(), server.shutdown())).start()
server.serve_forever()
