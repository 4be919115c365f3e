"""Runs clients in one process, one way: run_clients.py WAY FOLDER RESULTS MODULE[:NAME]."""

import contextlib
import importlib
import json
import os
import sys
import warnings

import clients
import torch

WAYS = {
    "torch": contextlib.nullcontext,  # torch's own profiler
    "changed_import": contextlib.nullcontext,
    "take_over": lambda: importlib.import_module("mindtorch_v2.profiler").take_over(),
    "mtprof_run": contextlib.nullcontext,  # this program was started by mtprof run --take-over
}


def modules(way):
    if way == "changed_import":
        return [importlib.import_module(name) for name in ("mindtorch_v2.profiler", "mindtorch_v2.autograd.profiler")]
    return torch.profiler, torch.autograd.profiler


def main(way, folder, results, chosen):
    warnings.simplefilter("ignore")
    module, _, only = chosen.partition(":")
    wanted = {name: function for name, function in importlib.import_module(module).CLIENTS.items() if only in ("", name)}
    with WAYS[way]():
        found = {name: clients.outcome(function, os.path.join(folder, name), *modules(way)) for name, function in wanted.items()}
        found["who"] = modules(way)[0].profile.__module__
    with open(results, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
