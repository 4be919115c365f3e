"""A server that answers with a model, and waits for questions most of the time."""

import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from torch import nn

CLIENT = """
import sys, time, urllib.request
for _ in range(40):
    urllib.request.urlopen("http://127.0.0.1:" + sys.argv[1], data=b"x").read()
    time.sleep(0.005)
"""
model = nn.Sequential(nn.Linear(512, 2048), nn.ReLU(), nn.Linear(2048, 1000)).eval()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        with torch.no_grad():
            best = model(torch.randn(64, 512)).argmax(-1)
        body = json.dumps(best.tolist()).encode()
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
