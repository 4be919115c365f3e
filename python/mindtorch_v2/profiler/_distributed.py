"""The data of torch.distributed about this process. Tools that compare the traces of a job read it from the trace."""

import os
import sys


def distributed_info():
    """torch's "distributedInfo" of a trace, with the local rank that torchrun gives; None unless torch.distributed is initialised."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    info = {
        "backend": distributed.get_backend(),
        "rank": distributed.get_rank(),
        "world_size": distributed.get_world_size(),
        "pg_count": distributed.get_pg_count(),
        "pg_config": distributed.distributed_c10d._get_all_pg_configs(),
    }
    if info["backend"] == "nccl":
        info["nccl_version"] = ".".join(map(str, torch.cuda.nccl.version()))
    if os.environ.get("LOCAL_RANK", "").isdigit():
        info["local_rank"] = int(os.environ["LOCAL_RANK"])
    return info


def process_groups():
    """What torch.distributed says about the process groups of the job, for execution traces; None if it is not used."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    world = distributed.distributed_c10d._world
    return getattr(world, "pg_config_info", None)
