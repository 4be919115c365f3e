"""Profiles one of the programs with torch.profiler and with ours, in one process. Writes a JSON file with what each of them says.

Usage: profile_twice.py PROGRAM FILE
"""

import json
import os
import sys
import warnings
from collections import Counter
from pathlib import Path

import mindtorch_v2.profiler
import programs
import research_programs
import torch
import torch.profiler
import torch_programs
from torch.utils.flop_counter import FlopCounterMode

WARM_UP_RUNS = 2
# The ops that torch.profiler counts and torch.utils.flop_counter does not: they are counted once for each element.
PER_ELEMENT = {"aten::add", "aten::mul"}
# Programs that fail under torch.utils.flop_counter, or whose products it does not see, or counts otherwise: it takes the derivative of a
# convolution with groups for that of one without, and counts derivatives of strided convolutions by other positions.
NOT_FOR_THE_FLOP_COUNTER = {"nested_tensors", "recomputed_layers", "sparse_products", "timm_ema", "transformers_vit"}
OPTIONS = {"record_shapes": True, "profile_memory": True, "with_flops": True}


def peak_memory(events: list[dict]) -> int:
    """The largest sum of CPU memory that was taken and not given back since the profile started."""
    changes = [
        (event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]" and event["args"]["Device Type"] == 0
    ]
    level = peak = 0
    for _, size in sorted(changes, key=lambda change: change[0]):
        level += size
        peak = max(peak, level)
    return peak


def answers(profiler, program, trace: Path) -> dict:
    """What a profile of the program answers, without the times."""
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], **OPTIONS) as prof:
        program()
    prof.export_chrome_trace(str(trace))
    counts, flops = Counter(), Counter()
    for row in prof.key_averages(group_by_input_shape=True):
        counts[f"{row.key} {row.input_shapes}"] += row.count
        if row.flops:
            flops[row.key] += row.flops
    asynchronous = Counter(event.name for event in prof.events() if event.is_async)
    return {
        "counts": counts,
        "flops": flops,
        "products": sum(count for name, count in flops.items() if name not in PER_ELEMENT),
        "asynchronous": asynchronous,
        "peak_memory": peak_memory(json.loads(trace.read_text())["traceEvents"]),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    program = {**vars(programs), **vars(research_programs), **vars(torch_programs)}[sys.argv[1]]()
    for _ in range(WARM_UP_RUNS):
        program()
    said = {}
    for name, profiler in (("torch", torch.profiler), ("ours", mindtorch_v2.profiler)):
        said[name] = answers(profiler, program, Path(f"{name}.json"))
    if sys.argv[1] not in NOT_FOR_THE_FLOP_COUNTER:
        with FlopCounterMode(display=False) as counter:
            program()
        said["flop_counter"] = counter.get_total_flops()
    Path(sys.argv[2]).write_text(json.dumps(said, indent=1))
    if torch.distributed.is_initialized():
        os._exit(0)  # threads of gloo that ask for the GIL after Python has ended abort the process, with and without a profiler


if __name__ == "__main__":
    main()
