"""The data of torch.distributed about this process. Tools that compare the traces of a job read it from the trace."""

from __future__ import annotations

import os
import sys
import time


def _initialised():
    """torch.distributed; None if this process does not use it."""
    distributed = sys.modules.get("torch.distributed")
    return distributed if distributed is not None and distributed.is_available() and distributed.is_initialized() else None


def collective_counts():
    """How many collectives each Gloo group of this process has begun, by the name of the group. Gloo's events do not name their group, and
    `mtprof ranks` tells by these numbers which group the threads belong to that ran them."""
    counts = {}
    if (distributed := _initialised()) is None:
        return counts
    torch = sys.modules["torch"]
    for group, name in distributed.distributed_c10d._world.pg_names.items():
        try:
            backend = group._get_backend(torch.device("cpu"))
            if backend.name() == "gloo":
                counts[name] = backend._get_sequence_number_for_group()
        except RuntimeError:  # the group has no backend for the CPU
            continue
    return counts


def distributed_info(counts_before=None):
    """torch's "distributedInfo" of a trace, with the local rank that torchrun gives; None unless torch.distributed is initialised.

    With `counts_before`, it also says how many collectives each Gloo group has begun since it had begun so many.
    """
    if (distributed := _initialised()) is None:
        return None
    torch = sys.modules["torch"]
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
    if counts_before is not None and (counts := collective_counts()):
        info["collectives_until_ns"] = time.time_ns()
        for group in info["pg_config"]:
            if (count := counts.get(group["pg_name"])) is not None:
                group["collectives"] = count - counts_before.get(group["pg_name"], 0)
    return info


def rank_of_environment() -> int | None:
    """The rank that a launcher (torchrun, mpirun) has given to this process; None if there is none, or a text that is no number."""
    for name in ("RANK", "OMPI_COMM_WORLD_RANK"):
        text = os.environ.get(name, "")
        if text.isascii() and text.isdecimal():
            return int(text)
    return None


def process_groups():
    """What torch.distributed says about the process groups of the job, for execution traces; None if it is not used."""
    if (distributed := _initialised()) is None:
        return None
    world = distributed.distributed_c10d._world
    return getattr(world, "pg_config_info", None)
