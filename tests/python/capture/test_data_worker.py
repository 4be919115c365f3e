"""What a worker of a data loader writes about itself: into its own file only, whatever the program does to its descriptors.

Tests mindtorch_v2/capture/data_worker.
"""

import os
import resource
import subprocess
import sys

import pytest
from mindtorch_v2.capture import data_worker
from mindtorch_v2.capture.data_worker import LoggedScope, WorkerLog


def spans_in(folder):
    return sum(path.read_text().count("\ns ") for path in folder.iterdir())


def work(log, scopes=1):
    scope = LoggedScope(log, log.name("fetch", "train.py:12"))
    for _ in range(scopes):
        with scope:
            pass
    log.flush()


def test_a_program_that_closes_all_descriptors_and_uses_their_numbers_keeps_its_files(tmp_path):
    program = f"""
import os, sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
from pathlib import Path
from test_data_worker import WorkerLog, work
log = WorkerLog(Path("spans"), 0)
work(log)
os.closerange(3, 1024)
files = [open(f"file{{i}}", "w+b", buffering=0) for i in range(20)]
work(log, scopes=1000)
for file in files:
    assert os.fstat(file.fileno()).st_size == 0, file.name
    file.write(b"the program's")
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert spans_in(tmp_path / "spans") == 1001


def test_spans_wait_until_the_program_has_a_descriptor_to_give(tmp_path):
    log = WorkerLog(tmp_path, 0)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        work(log, scopes=3)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    work(log, scopes=2)
    assert spans_in(tmp_path) == 5


def test_what_is_too_much_for_two_files_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(data_worker, "_MOST_BYTES", 1000)
    log = WorkerLog(tmp_path, 0)
    for _ in range(100):
        work(log, scopes=10)
    newest = next(path for path in tmp_path.iterdir() if path.suffix == ".spans").read_text()
    lost = int(newest.partition("\nl ")[2].split()[0])
    assert 0 < lost < 1000
    assert spans_in(tmp_path) + lost == 1000


@pytest.mark.parametrize("folder", ["file", "missing/file/folder"])
def test_without_a_folder_nothing_is_recorded_and_nothing_is_raised(tmp_path, folder):
    (tmp_path / "file").write_text("the user's")
    (tmp_path / "missing").write_text("the user's")
    log = WorkerLog(tmp_path / folder, 0)
    work(log, scopes=10)
    assert (tmp_path / "file").read_text() == "the user's"
