"""on_trace_ready: when it is called, what it may do, and the handler for TensorBoard."""

import pytest
from mindtorch_v2.profiler import profile, schedule, tensorboard_trace_handler

pytestmark = pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")


def test_a_callback_can_read_and_export_what_was_recorded(op, tmp_path):
    seen = []

    def ready(prof):
        seen.append(len(prof.events()))
        prof.export_chrome_trace(tmp_path / "trace.json")
        prof.key_averages().table()

    with profile(on_trace_ready=ready):
        op("aten::mul")
    assert seen == [1] and (tmp_path / "trace.json").exists()


def test_the_tensorboard_handler_writes_a_file_a_cycle(op, tmp_path):
    handler = tensorboard_trace_handler(tmp_path / "log", worker_name="worker", use_gzip=True)
    with profile(schedule=schedule(wait=0, warmup=1, active=1, repeat=2), on_trace_ready=handler) as prof:
        for _ in range(4):
            op("aten::mul")
            prof.step()
    names = sorted(path.name for path in (tmp_path / "log").iterdir())
    assert len(names) == 2
    assert all(name.startswith("worker.") and name.endswith(".pt.trace.json.gz") for name in names)


def test_the_tensorboard_handler_says_which_directory_it_cannot_make(op, tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(RuntimeError, match="Can't create directory: "),
        profile(on_trace_ready=tensorboard_trace_handler(str(tmp_path / "file" / "log"))),
    ):
        pass


# Rule: session.on_trace_ready


def test_on_trace_ready_is_called_at_torchs_moments():
    calls = []
    with profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=lambda p: calls.append(p.step_num)) as prof:
        for _ in range(10):
            prof.step()
    assert calls == [4, 8]


def test_on_trace_ready_is_called_at_exit_while_recording():
    calls = []
    with profile(on_trace_ready=calls.append) as prof:
        pass
    assert calls == [prof]


@pytest.mark.parametrize(("steps", "calls"), [(0, []), (1, []), (2, [2]), (3, [3]), (4, [3]), (5, [3, 5]), (6, [3, 6])])
def test_on_trace_ready_is_called_at_the_end_of_a_cycle_and_at_exit_only_while_recording(steps, calls):
    """One step of waiting, one of warming up, one recorded; the block ends after `steps` steps."""
    ready = []
    with profile(schedule=schedule(wait=1, warmup=1, active=1), on_trace_ready=lambda p: ready.append(p.step_num)) as prof:
        for _ in range(steps):
            prof.step()
    assert ready == calls


def test_exceptions_of_on_trace_ready_propagate():
    def boom(prof):
        raise TypeError("callback boom")

    with pytest.raises(TypeError, match="callback boom"), profile(on_trace_ready=boom):
        pass
    with profile():  # nothing was left running
        pass


# Rule: session.handlers


def test_the_first_of_a_tuple_of_callbacks_is_called(op):
    called = []
    with profile(on_trace_ready=(called.append, None)) as prof:
        op("aten::mul")
    assert called == [prof]


def test_the_callback_is_called_when_the_block_raised(op):
    called = []
    with pytest.raises(KeyError), profile(on_trace_ready=called.append) as prof:
        op("aten::mul")
        raise KeyError
    assert called == [prof] and len(prof.events()) == 1
