"""One of two processes that call collectives under torch's profiler and ours: run_collectives.py RANK FOLDER writes torch-RANK.json and
ours-RANK.json."""

import sys
import warnings


def collectives(torch, rank):
    distributed = torch.distributed
    x = torch.arange(16.0) + rank
    parts = [torch.empty(16) for _ in range(2)]
    distributed.all_reduce(x)
    distributed.all_reduce(x, op=distributed.ReduceOp.MAX, async_op=True).wait()
    distributed.broadcast(x, src=1)
    distributed.reduce(x, dst=0)
    distributed.all_gather(parts, x)
    distributed.gather(x, parts if rank == 0 else None, dst=0)
    distributed.scatter(x, parts if rank == 1 else None, src=1)
    distributed.all_to_all_single(torch.empty(16), x)
    distributed.barrier()
    if rank == 0:
        distributed.send(x, dst=1)
    else:
        distributed.recv(x, src=0)


def backward(torch):
    """Gloo begins its part of this on threads of its own, with calls that the main thread has made."""
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 2))
    return lambda: model(torch.ones(4, 8)).sum().backward()


def main(rank, folder):
    warnings.filterwarnings("ignore")
    import torch
    from mindtorch_v2.profiler import profile

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2, init_method=f"file://{folder}/store")
    collectives(torch, rank)
    train = backward(torch)
    for _ in range(3):  # the first steps tell the ranks how gradients are grouped
        train()
    cpu = [torch.profiler.ProfilerActivity.CPU]
    for file, make, activities in [("torch", torch.profiler.profile, cpu), ("ours", profile, ["cpu"])]:
        with make(activities=activities, record_shapes=True) as p:
            train()
            collectives(torch, rank)
        p.export_chrome_trace(f"{folder}/{file}-{rank}.json")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
