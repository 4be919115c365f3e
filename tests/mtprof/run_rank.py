"""One rank of a training job on Gloo: run_rank.py RANK WORLD_SIZE FOLDER SETTINGS writes FOLDER/rank<RANK>.<suffix>.

SETTINGS is JSON: `parallel` ("ddp", "fsdp" or "pipeline"), `suffix` (".mtrec" for our profiler, ".json" for torch's), `steps`, `shapes`
(whether arguments are recorded, true by default), `pairs` (whether two neighbours also meet in a group of their own, later ranks more
often), `idle_groups` (how many groups are not used), and of the slow rank `slow_rank`, `slow_seconds` and `slow_in` ("op", "scope" or
"python").
"""

import json
import os
import sys
import time
import warnings


def make_slow_op(torch):
    @torch.library.custom_op("ranks_test::slow", mutates_args=())
    def slow(x: torch.Tensor, seconds: float) -> torch.Tensor:
        time.sleep(seconds)
        return x.clone()

    slow.register_autograd(lambda context, gradient: (gradient, None), setup_context=lambda context, inputs, output: None)
    return slow


def make_model(torch, parallel):
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(4)])
    if parallel == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.02)
    from torch.distributed.fsdp import fully_shard

    for layer in model:
        fully_shard(layer)
    return fully_shard(model)


class Pipeline:
    """One stage of a pipeline: two microbatches go forth and their gradients come back, the second ones with another tag."""

    def __init__(self, torch, rank, world_size):
        self.distributed, self.rank, self.last = torch.distributed, rank, world_size - 1
        self.layer = torch.nn.Linear(64, 64)
        self.empty = lambda: torch.zeros(8, 64)

    def step(self, slowly):
        outputs = []
        for _ in range(2):
            x = self.empty()
            if self.rank > 0:
                self.distributed.recv(x, self.rank - 1)
            x = slowly(x).requires_grad_()
            outputs.append((x, self.layer(x)))
            if self.rank < self.last:
                self.distributed.send(outputs[-1][1].detach(), self.rank + 1)
        for tag, (x, y) in enumerate(outputs):
            gradient = self.empty()
            if self.rank < self.last:
                self.distributed.recv(gradient, self.rank + 1, tag=tag)
            y.backward(gradient)
            if self.rank > 0:
                self.distributed.send(x.grad, self.rank - 1, tag=tag)


def main(rank, world_size, folder, settings):
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=world_size, init_method=f"file://{folder}/store")
    torch.manual_seed(0)
    if settings["suffix"] == ".json":
        from torch.profiler import ProfilerActivity, profile, record_function, schedule

        activities = [ProfilerActivity.CPU]
    else:
        from mindtorch_v2.profiler import profile, record_function, schedule

        activities = ["cpu"]
    slow_op = make_slow_op(torch)
    pipeline = Pipeline(torch, rank, world_size) if settings["parallel"] == "pipeline" else None
    model = pipeline.layer if pipeline else make_model(torch, settings["parallel"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def slowly(x):
        seconds = settings["slow_seconds"] if rank == settings["slow_rank"] else 0.0
        if settings["slow_in"] == "op":
            return slow_op(x, seconds)
        if settings["slow_in"] == "scope":
            with record_function("augment"):
                time.sleep(seconds)
        else:
            time.sleep(seconds)
        return x

    for _ in range(settings.get("idle_groups", 0)):
        torch.distributed.new_group()
    pairs = [torch.distributed.new_group([first, first + 1]) for first in range(0, world_size, 2)] if settings.get("pairs") else []

    def meet_in_pairs():
        for _ in range(1 + rank // 2 if pairs else 0):
            torch.distributed.all_reduce(torch.ones(100), group=pairs[rank // 2])

    def train():
        if pipeline:
            pipeline.step(slowly)
        else:
            model(slowly(torch.randn(8, 64))).square().mean().backward()

    steps = settings["steps"]
    plan = schedule(wait=1, warmup=1, active=steps)
    with profile(activities=activities, schedule=plan, record_shapes=settings.get("shapes", True)) as prof:
        for _ in range(steps + 2):
            meet_in_pairs()
            optimizer.zero_grad()
            train()
            optimizer.step()
            prof.step()
    path = f"{folder}/rank{rank}{settings['suffix']}"
    prof.export_chrome_trace(path) if settings["suffix"] == ".json" else prof.export_trace(path)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4]))
    # Gloo's threads let go of the last barrier a moment after it. If the interpreter is already ending then, they abort the process.
    os._exit(0)
