"""What the workers of data loaders do, and the wait for them, is in the recording of the training loop."""

import csv
import json
import subprocess
import sys
from collections import Counter

import pytest

pytestmark = pytest.mark.torch

# Prints the pid, so that a test can tell the tracks of workers from those of this process.
_TRAINS = """
import json, os, sys, time
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset
from mindtorch_v2.profiler import profile
from mindtorch_v2.profiler._config import _ExperimentalConfig

def busy(seconds):
    begin = time.thread_time()
    while time.thread_time() < begin + seconds: pass

class Pictures(Dataset):
    def __len__(self): return 12
    def __getitem__(self, index):
        busy(0.004)
        return torch.full((3,), float(index))

class Stream(IterableDataset):
    def __iter__(self): return iter([torch.ones(2)] * 12)

def stack_all(items):
    busy(0.006)
    return torch.stack(items)

class Broken(Pictures):
    def __getitem__(self, index): raise KeyError("no picture")

def main(options, folder):
    kind = {"Pictures": Pictures, "Stream": Stream, "Broken": Broken}[options.pop("dataset", "Pictures")]
    dataset = kind()
    if options.pop("subset", False): dataset = Subset(dataset, range(8))
    seen = []
    with profile(experimental_config=_ExperimentalConfig(sampling_interval_ms=1.0)) as prof:
        loader = DataLoader(dataset, batch_size=4, collate_fn=stack_all, **options)
        for epoch in range(2):
            try:
                seen += [batch.sum().item() for batch in loader]
            except KeyError as error:
                seen.append(str("no picture" in str(error)))
    prof.export_trace(folder + "/r.events.plain.csv")
    print(json.dumps({"pid": os.getpid(), "seen": seen}))

if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2])
"""


@pytest.fixture
def train(tmp_path, bridged_torch):
    """Runs the program with options of the DataLoader: what it printed, and its scopes as rows of texts."""

    def train(options):
        program = tmp_path / "train.py"
        program.write_text(_TRAINS)
        done = subprocess.run([sys.executable, program, json.dumps(options), tmp_path], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        with open(tmp_path / "r.events.plain.csv", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["kind"] == "scope"]
        return json.loads(done.stdout), rows

    return train


def calls(rows):
    """{name: calls}"""
    return Counter(row["name"] for row in rows)


def in_workers(said, rows):
    return [row for row in rows if int(row["thread_id"]) != said["pid"]]


@pytest.mark.parametrize("start_method", ["fork", "spawn", "forkserver"])
def test_workers_of_any_start_method_are_recorded(train, start_method):
    said, rows = train({"num_workers": 2, "multiprocessing_context": start_method})
    assert said["seen"] == [6.0 * 3, 22.0 * 3, 38.0 * 3] * 2
    workers = in_workers(said, rows)
    found = calls(workers)
    assert found["Dataset.__getitem__(Pictures)"] == 24
    assert found["collate_fn(stack_all)"] == found["DataLoader.fetch"] == 6
    assert found["DataLoader.put"] == 6
    assert len({row["thread_id"] for row in workers}) == 4, "two workers in each of two epochs"
    waits = [row for row in rows if row["name"] == "DataLoader.wait"]
    assert {int(row["thread_id"]) for row in waits} == {said["pid"]}
    assert len(waits) >= 6


def test_items_and_collating_lie_inside_of_their_fetch(train):
    said, rows = train({"num_workers": 1, "persistent_workers": True})
    workers = in_workers(said, rows)
    assert len({row["thread_id"] for row in workers}) == 1
    fetches = {row["id"] for row in workers if row["name"] == "DataLoader.fetch"}
    inner = [row for row in workers if row["name"] in ("Dataset.__getitem__(Pictures)", "collate_fn(stack_all)")]
    assert len(inner) == 30
    assert all(row["parent_id"] in fetches for row in inner)
    items = [int(row["duration_ns"]) for row in inner if row["name"].startswith("Dataset")]
    assert min(items) >= 4_000_000


def test_without_workers_the_training_loop_has_the_scopes(train):
    said, rows = train({"num_workers": 0, "subset": True})
    found = calls(rows)
    assert found["Dataset.__getitems__(Pictures)"] == 4, "a Subset asks for all items of a batch at once"
    assert found["collate_fn(stack_all)"] == found["DataLoader.fetch"] == 4
    assert in_workers(said, rows) == []


def test_iterable_datasets_are_recorded(train):
    said, rows = train({"num_workers": 1, "dataset": "Stream"})
    found = calls(in_workers(said, rows))
    assert found["Dataset.__iter__(Stream)"] >= 24
    assert found["collate_fn(stack_all)"] == 6


def test_errors_of_a_dataset_reach_the_program(train):
    said, _ = train({"num_workers": 1, "dataset": "Broken"})
    assert said["seen"] == ["True", "True"]


_KILLED = _TRAINS.replace(
    "seen += [batch.sum().item() for batch in loader]",
    """
                iterator = iter(loader)
                seen.append(next(iterator).sum().item())
                os.kill(iterator._workers[0].pid, 9)
                list(iterator)
            except RuntimeError:
                seen.append("killed")
                break""",
)


def test_what_a_killed_worker_did_is_kept(tmp_path, bridged_torch):
    program = tmp_path / "train.py"
    program.write_text(_KILLED)
    done = subprocess.run(
        [sys.executable, program, '{"num_workers": 1, "persistent_workers": true}', tmp_path], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert '"killed"' in done.stdout
    with open(tmp_path / "r.events.plain.csv", newline="") as file:
        assert calls(csv.DictReader(file))["Dataset.__getitem__(Pictures)"] >= 4
