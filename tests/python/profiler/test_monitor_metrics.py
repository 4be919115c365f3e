"""Metrics of a monitor in the forms that operators' tools read, and the test for slow steps."""

import random
import sys
import time
from types import SimpleNamespace

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.monitor.cost import CostBound
from mindtorch_v2.monitor.handlers import prometheus_text
from mindtorch_v2.monitor.steps import StepTimes
from mindtorch_v2.monitor.work import work_of
from mindtorch_v2.profiler import (
    ProfilerAction,
    opentelemetry_handler,
    opentelemetry_trace_handler,
    profile,
    prometheus_handler,
    record_function,
    tensorboard_handler,
)
from mindtorch_v2.profiler._cost import Prices, Work
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

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


def test_opentelemetry_gets_gauges(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    reader = InMemoryMetricReader()
    opentelemetry_handler(MeterProvider([reader]))(METRICS)
    (resource,) = reader.get_metrics_data().resource_metrics
    points = {metric.name: metric.data.data_points[0] for scope in resource.scope_metrics for metric in scope.metrics}
    assert {name: point.value for name, point in points.items()} == {
        "mindtorch.steps": 12,
        "mindtorch.step_seconds": 0.25,
        "mindtorch.lost_events": 3,
    }
    assert points["mindtorch.steps"].attributes["rank"] == "3"


@pytest.mark.parametrize("handler", [opentelemetry_handler, opentelemetry_trace_handler])
def test_without_opentelemetry_its_handlers_say_what_is_missing(monkeypatch, handler):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(ImportError, match="pip install opentelemetry-sdk"):
        handler()


@pytest.fixture
def spans_of():
    """Records two steps and gives the spans that the SDK exports."""

    def record(**options):
        exporter, provider = InMemorySpanExporter(), TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        every_step = lambda step: [ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE, ProfilerAction.NONE][step]  # noqa: E731
        with profile(schedule=every_step, on_trace_ready=opentelemetry_trace_handler(provider, **options)) as prof:
            for _ in range(2):
                with record_function("load"), record_function("gloo:all_reduce"):
                    torch.ones(3) * 2.0
                prof.step()
        return exporter.get_finished_spans()

    return record


def test_steps_and_scopes_are_spans(spans_of, monkeypatch):
    monkeypatch.setenv("RANK", "1")
    before = time.time_ns()
    spans = spans_of()
    first = {span.name: span for span in spans if span.attributes["mindtorch.step"] == 0}
    assert set(first) == {"step 0", "load", "gloo:all_reduce"}
    assert first["step 0"].parent is None
    assert first["load"].parent.span_id == first["step 0"].context.span_id
    assert first["gloo:all_reduce"].parent.span_id == first["load"].context.span_id
    assert first["gloo:all_reduce"].attributes["mindtorch.kind"] == "collective"
    assert all(span.attributes["mindtorch.rank"] == 1 for span in spans)
    for span in spans:
        assert before - 1e9 < span.start_time <= span.end_time < time.time_ns() + 1e9
    second = next(span for span in spans if span.name == "step 1")
    assert second.context.trace_id != first["step 0"].context.trace_id


def test_ops_are_spans_if_they_are_asked_for_and_the_rest_is_counted(spans_of):
    names = [span.name for span in spans_of(ops=True)]
    assert names.count("aten::mul") == 2
    few = spans_of(ops=True, most=3)
    assert len(few) == 3
    assert [span.attributes["mindtorch.spans_left_out"] for span in few if "mindtorch.spans_left_out" in span.attributes] == [
        len(names) - 3
    ]


class Rows:
    """The averages of a recording of two steps, and of a third one that is still running."""

    def __init__(self, *rows):
        self.rows = [
            SimpleNamespace(**{"cpu_time_total": 0.0, "self_cpu_time_total": 0.0, "device_time_total": 0.0, **row}) for row in rows
        ]

    def key_averages(self):
        return self.rows


def test_device_time_and_collectives_are_metrics_per_step():
    recording = Rows(
        {"key": "ProfilerStep*", "count": 3, "self_device_time_total": 0.0},
        {"key": "aten::mm", "count": 20, "self_cpu_time_total": 400.0, "self_device_time_total": 8000.0},
        {"key": "nccl:all_reduce", "count": 4, "cpu_time_total": 100.0, "device_time_total": 2000.0, "self_device_time_total": 2000.0},
    )
    work = work_of(recording, step_seconds=0.010)
    assert work.steps == 2
    assert work.device_busy_share == pytest.approx(0.5)  # 10 ms of 20 ms
    assert work.collective_seconds == pytest.approx(0.001)
    assert work.top_ops == [{"name": "aten::mm", "seconds": pytest.approx(0.0042), "calls": 10.0}]


def test_a_recording_without_devices_and_collectives_says_so():
    recording = Rows(
        {"key": "ProfilerStep*", "count": 3, "self_device_time_total": 0.0}, {"key": "aten::mm", "count": 2, "self_device_time_total": 0.0}
    )
    work = work_of(recording, step_seconds=0.010)
    assert work.device_busy_share is None and work.collective_seconds is None
    assert work_of(Rows(), step_seconds=0.010).steps == 0


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
    cost.learn(events=10_000, steps=2)  # of ten steps, two were recorded
    assert not cost.adjust(0.010) and cost.every == 5


def test_the_time_of_the_monitor_itself_counts():
    cost = CostBound(0.01, {})
    cost.ns_per_event = 100.0
    cost.learn(events=500, steps=10)  # 5 us per step
    for _ in range(10):
        cost.add_own_time(6e-6)
    assert cost.adjust(0.001)  # 6 us of the 10 us that are allowed are taken already
    assert cost.every == 2 and cost.share(0.001) == pytest.approx(0.0085)


def test_prices_and_the_work_of_a_step_give_the_cost_of_an_event():
    cost = CostBound(0.01, {})
    cost.prices = Prices(op=100.0, node=500.0)
    cost.learn(events=40, steps=2, work=Work(ops=30, nodes=10))  # 3 + 5 us in two steps
    assert cost.ns_per_event == pytest.approx(200)
    assert cost.share(0.001) == pytest.approx(0.004)
