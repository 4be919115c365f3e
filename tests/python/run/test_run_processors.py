"""How the processors were used while a program ran: by its processes and by others, and what its loop had to wait for them."""

import json
import os
import subprocess
import sys
import time

from mindtorch_v2.base.run_delay import run_delay_ns
from mindtorch_v2.capture.data_worker import WorkerLog
from mindtorch_v2.cli.run import processors
from mindtorch_v2.cli.run.processors import ProcessorUse, Use

_WORK = "import time\nwhile time.process_time() < 0.3: pass"


def work(seconds):
    begin = time.process_time()
    while time.process_time() < begin + seconds:
        pass


def test_the_time_of_the_program_contains_that_of_its_processes():
    before = Use.now(os.getpid())
    subprocess.run([sys.executable, "-c", _WORK], check=True)
    work(0.3)
    after = Use.now(os.getpid())
    assert after.own - before.own > 0.5
    assert after.busy - before.busy > 0.5, "what the program used is part of what was used"
    assert after.processors == len(os.sched_getaffinity(0))


def test_shares_are_of_all_processors_and_add_up_to_one_at_most(monkeypatch):
    uses = iter([Use(4, 100.0, 50.0, 10.0), Use(4, 140.0, 80.0, 14.0)])
    monkeypatch.setattr(Use, "now", classmethod(lambda cls, root: next(uses)))
    delays = iter([1_000, 2_001_000])
    monkeypatch.setattr(processors, "run_delay_ns", lambda thread: next(delays))
    times = iter([0, 10_000_000])
    monkeypatch.setattr(time, "monotonic_ns", lambda: next(times))
    told = {key: json.loads(value) for key, value in ProcessorUse().metadata().items()}
    assert told == {"processors": 4, "processors_own": 0.1, "processors_others": 0.65, "processors_missing": 0.2}


def test_nothing_is_told_where_the_system_does_not_tell(monkeypatch):
    monkeypatch.setattr(Use, "now", classmethod(lambda cls, root: None))
    assert ProcessorUse().metadata() == {}


def test_a_worker_tells_for_how_long_a_batch_waited_for_a_processor(tmp_path):
    log = WorkerLog(tmp_path, 0)
    number = log.name("DataLoader.fetch")
    log.span(number, 5, 7)
    log.span(number, 6, None)
    log.flush()
    spans = [line.split() for line in next(tmp_path.glob("*.spans")).read_text().splitlines() if line.startswith("s ")]
    assert [len(span) for span in spans] == [5, 4]
    assert spans[0][4] == "7"


def test_the_wait_for_a_processor_never_shrinks():
    first = run_delay_ns()
    work(0.05)
    assert first is None or run_delay_ns() >= first
