"""The embedded runtime against PyTorch on the CPU, one thread: a GPT step, a CNN step, and the smallest op (against LibTorch, in C++).

Ours runs in bench_runtime --serve and takes turns with the peer, round by round. Without torch in .venv there is a note instead of a ratio.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 11
LAYERS, WIDTH, HEADS, CONTEXT, BATCH, VOCABULARY = 4, 128, 4, 64, 8, 64  # those of runtime.cpp


class Server:
    """A program that runs a case as often as requested and prints nanoseconds."""

    def __init__(self, *command: str, env: dict | None = None) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def run(self, case: str, count: int) -> float:
        self.process.stdin.write(f"{case} {count}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def gpt_step(torch):
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.qkv, self.join = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def attend(self, x):
            parts = self.qkv(x).chunk(3, -1)
            heads = [part.reshape(BATCH, CONTEXT, HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts]
            mixed = functional.scaled_dot_product_attention(*heads, is_causal=True)
            return self.join(mixed.transpose(1, 2).reshape(BATCH, CONTEXT, WIDTH))

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
            self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, tokens):
            return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions(torch.arange(CONTEXT)))))

    model = Gpt()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens, target = torch.randint(0, VOCABULARY, (BATCH, CONTEXT)), torch.randint(0, VOCABULARY, (BATCH * CONTEXT,))

    def step():
        loss = functional.cross_entropy(model(tokens).reshape(-1, VOCABULARY), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def cnn_step(torch):
    nn = torch.nn
    layers, channels = [], 3
    for following in (32, 64):
        layers += [nn.Conv2d(channels, following, 3, padding=1), nn.BatchNorm2d(following), nn.ReLU(), nn.MaxPool2d(2)]
        channels = following
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 8 * 8, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))

    def step():
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def timed(step, count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - start) * 1e9 / count


def libtorch_server(torch, folder: str) -> Server:
    root = Path(torch.__file__).parent
    source = Path(__file__).parent / "libtorch" / "tiny_add.cpp"
    program = Path(folder) / "tiny_add"
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    command = ["g++", "-std=c++20", "-O2", abi, "-isystem", str(root / "include"), str(source), "-o", str(program)]
    command += [f"-L{root / 'lib'}", f"-Wl,-rpath,{root / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run(command, check=True)
    return Server(str(program))


def report(name: str, unit: str, scale: float, ours: list, peers: list, peer: str, note: str) -> None:
    result = {"name": name, "ours": round(statistics.median(ours) / scale, 4), "peer": None, "peer_value": None, "ratio": None}
    if peers:
        ratio = statistics.median(a / b for a, b in zip(ours, peers, strict=True))
        result |= {"peer": peer, "peer_value": round(statistics.median(peers) / scale, 4), "ratio": round(ratio, 4)}
    print(json.dumps(result | {"unit": unit, "note": note}), flush=True)


def compare(case: str, count: int, ours: Server, peer) -> tuple[list, list]:
    mine, theirs = [], []
    for round_number in range(-1, ROUNDS):
        pair = [ours.run(case, count), peer(count) if peer else 0.0]
        if round_number >= 0:
            mine.append(pair[0])
            theirs.append(pair[1])
    return mine, theirs if peer else []


def main() -> None:
    ours = Server(
        str(Path(os.environ["MINDTORCH_BUILD_DIR"]) / "bin" / "bench_runtime"), "--serve", env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    try:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
    except ImportError:
        torch = None
    missing = "" if torch else "; torch is not in .venv (./dev test --torch installs it), so there is nothing to compare with"
    peer = f"PyTorch {torch.__version__}" if torch else ""
    for name, case, make, limit in [("runtime/gpt_step", "gpt", gpt_step, 2), ("runtime/cnn_step", "cnn", cnn_step, 2.5)]:
        step = make(torch) if torch else None
        mine, theirs = compare(case, 4, ours, (lambda count, step=step: timed(step, count)) if step else None)
        report(name, "ms", 1e6, mine, theirs, peer, f"a training step, float32, one thread; limit {limit}{missing}")
    with tempfile.TemporaryDirectory() as folder:
        libtorch = libtorch_server(torch, folder) if torch else None
        mine, theirs = compare("add", 300_000, ours, (lambda count: libtorch.run("add", count)) if libtorch else None)
        report(
            "runtime/tiny_add", "ns", 1, mine, theirs, peer.replace("PyTorch", "LibTorch"), f"x + x on 4 elements, C++; limit 0.5{missing}"
        )


if __name__ == "__main__":
    sys.exit(main())
