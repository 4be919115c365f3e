"""Compiles a model of timm, with or without profiles before, around and after the compilation. Writes Dynamo's counters as JSON.

Usage: count_graphs.py with|without FILE
"""

import contextlib
import json
import sys
from pathlib import Path

import timm
import torch
from mindtorch_v2.profiler import profile, record_function
from torch._dynamo.utils import counters

OPTIONS = {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_modules": True, "with_flops": True}


def main() -> None:
    with_profiles = sys.argv[1] == "with"

    def around():
        return profile(**OPTIONS) if with_profiles else contextlib.nullcontext()

    torch.manual_seed(0)
    model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2, num_classes=8)
    scope = record_function if with_profiles else torch.profiler.record_function

    @torch.compile(backend="eager")
    def compiled(images):
        with scope("model"):
            return model(images).square().mean()

    images = torch.randn(2, 3, 32, 32)
    for _ in range(2):
        with around():
            compiled(images).backward()
        compiled(images).backward()
    compiled(torch.randn(3, 3, 32, 32)).backward()
    Path(sys.argv[2]).write_text(json.dumps({name: counters[name] for name in ("stats", "frames", "graph_break", "unimplemented")}))


if __name__ == "__main__":
    main()
