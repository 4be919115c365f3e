"""python -m mindtorch_v2.torch_bridge build | info"""

import argparse
import sys

from mindtorch_v2 import torch_bridge
from mindtorch_v2.torch_bridge import compiler, layout, ready


def build() -> int:
    try:
        print(f"Built {compiler.build(print)}")
    except compiler.BuildError as error:
        print(f"torch_bridge: {error}", file=sys.stderr)
        return 1
    return 0


def info() -> int:
    try:
        import torch
    except ImportError as error:
        print(f"PyTorch   cannot be imported: {error}")
        return 1
    status = torch_bridge.activate_if_possible()
    print(f"PyTorch   {torch.__version__}")
    print(f"bridge    {ready.find(torch) or layout.bridge_path(torch)}")
    print(f"ready for {', '.join(ready.releases()) or 'no release: this package was made without bridges'}")
    print(f"built for {', '.join(layout.built_versions()) or 'no release yet'}")
    print(f"status    {status}")
    return 0 if torch_bridge.is_active() else 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m mindtorch_v2.torch_bridge", description="Lets profiles record PyTorch.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="compile the bridge for the installed torch")
    commands.add_parser("info", help="say whether profiles record PyTorch, and why not")
    return {"build": build, "info": info}[parser.parse_args().command]()


if __name__ == "__main__":
    sys.exit(main())
