"""How much a profile keeps: the last steps, or everything in a file."""

from mindtorch_v2.profiler import _ExperimentalConfig, profile


def test_the_last_steps_can_be_kept_alone(op):
    with profile(experimental_config=_ExperimentalConfig(keep_last_steps=2)) as prof:
        for _ in range(10):
            op("aten::mul")
            prof.step()
    assert min(event["step"] for event in prof.events()) >= 8
    assert {loss.reason for loss in prof.losses()} <= {"overwritten"}


def test_events_can_be_spilled_to_a_file(op, tmp_path):
    path = tmp_path / "spilled.mtrec"
    with profile(experimental_config=_ExperimentalConfig(spill_path=str(path), budget_bytes=4 << 20)) as prof:
        for _ in range(50_000):
            op("aten::mul")
    assert path.stat().st_size > 0 and len(prof.events()) == 50_000


def test_threads_that_wait_for_the_spill_file_do_not_keep_the_interpreter_from_writing_it(run_program, tmp_path):
    """The writer reads call stacks, for which it needs the lock that a waiting thread of Python holds."""
    text = f"""
import threading
from mindtorch_v2.profiler import _ExperimentalConfig, dispatch_op_enter, dispatch_op_exit, profile

def work():
    for _ in range(50_000):
        dispatch_op_exit(dispatch_op_enter("aten::mul", "cpu", (), {{}}))

config = _ExperimentalConfig(spill_path={str(tmp_path / "spilled.mtrec")!r}, budget_bytes=1 << 20)
with profile(with_stack=True, record_shapes=True, experimental_config=config) as prof:
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print(sum(event.name == "aten::mul" for event in prof.events()), prof.events()[0]["stack"][0].rsplit(":", 1)[1])
"""
    assert run_program(text).split() == ["150000", "work"]
