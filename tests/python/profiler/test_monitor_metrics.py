"""Metrics of a monitor in the forms that operators' tools read, and the test for slow steps."""

import random

import pytest
from mindtorch_v2.profiler import opentelemetry_handler, prometheus_handler, tensorboard_handler
from mindtorch_v2.profiler._monitor_cost import CostBound
from mindtorch_v2.profiler._monitor_handlers import prometheus_text
from mindtorch_v2.profiler._monitor_steps import StepTimes

METRICS = {"steps": 12, "step_seconds": 0.25, "monitor_cost_share": None, "lost_events": 3}


def test_prometheus_reads_names_types_and_values(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    lines = prometheus_text(METRICS).splitlines()
    samples = [line for line in lines if not line.startswith("#")]
    assert [line.split("{")[0] for line in samples] == ["mindtorch_steps_total", "mindtorch_step_seconds", "mindtorch_lost_events_total"]
    assert all('rank="3"' in line for line in samples)
    assert "# TYPE mindtorch_steps_total counter" in lines and "# TYPE mindtorch_step_seconds gauge" in lines
    assert float(samples[1].split()[-1]) == 0.25


def test_the_file_for_prometheus_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "job.prom"
    write = prometheus_handler(path)
    write(METRICS)
    write({**METRICS, "steps": 13})
    assert " 13.0" in path.read_text()
    assert [entry.name for entry in tmp_path.iterdir()] == ["job.prom"]


def test_tensorboard_gets_scalars_by_step():
    class Writer:
        def __init__(self):
            self.scalars = []

        def add_scalar(self, name, value, step):
            self.scalars.append((name, value, step))

    writer = Writer()
    tensorboard_handler(writer)(METRICS)
    assert writer.scalars == [("mindtorch/step_seconds", 0.25, 12), ("mindtorch/lost_events", 3, 12)]


def test_opentelemetry_gets_gauges_or_says_what_is_missing():
    try:
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    except ImportError:
        with pytest.raises(ImportError, match="pip install opentelemetry-sdk"):
            opentelemetry_handler()
        return
    reader = InMemoryMetricReader()
    opentelemetry_handler(MeterProvider([reader]))(METRICS)
    (resource,) = reader.get_metrics_data().resource_metrics
    names = {metric.name for scope in resource.scope_metrics for metric in scope.metrics}
    assert names == {"mindtorch.steps", "mindtorch.step_seconds", "mindtorch.lost_events"}


def test_noise_is_not_slow_and_a_slow_step_is():
    rng = random.Random(5)
    times = StepTimes()
    usual = [times.add(0.010 * rng.gauss(1, 0.03)) for _ in range(2000)]
    assert not any(usual)
    assert times.add(0.020)
    assert not times.add(0.010)


def test_steps_that_vary_a_lot_need_more_to_be_slow():
    rng = random.Random(6)
    times = StepTimes()
    assert not any(times.add(0.010 * rng.uniform(1, 2)) for _ in range(500))
    assert not times.add(0.023)
    assert times.add(0.060)


def test_the_first_steps_are_never_slow():
    times = StepTimes()
    assert not any(times.add(seconds) for seconds in [5.0, 0.01, 0.01, 1.0])


def test_the_bound_decides_how_many_steps_are_recorded():
    cost = CostBound(0.01, {})
    cost.ns_per_event = 100.0
    assert cost.share(0.010) is None and not cost.adjust(0.010)
    cost.learn(events=3000, steps=10)  # 30 us per step
    assert not cost.adjust(0.010)
    assert cost.every == 1 and cost.share(0.010) == pytest.approx(0.003)
    cost.learn(events=50_000, steps=10)
    assert cost.adjust(0.010)  # 0.5 ms of 10 ms
    assert cost.every == 5 and cost.share(0.010) == pytest.approx(0.01)
    assert "one step of 5" in cost.text()
    assert [step for step in range(10) if not cost.skips(step)] == [0, 5]
    cost.learn(events=10_000, steps=10)  # of the two steps that were recorded
    assert not cost.adjust(0.010) and cost.every == 5


def test_the_time_of_the_monitor_itself_counts():
    cost = CostBound(0.01, {})
    cost.ns_per_event = 100.0
    cost.learn(events=500, steps=10)  # 5 us per step
    for _ in range(10):
        cost.add_own_time(6e-6)
    assert cost.adjust(0.001)  # 6 us of the 10 us that are allowed are taken already
    assert cost.every == 2 and cost.share(0.001) == pytest.approx(0.0085)
