"""The hooks for dispatchers written in Python."""

import json
import threading

import numpy
import pytest
from mindtorch_v2.profiler import dispatch_op_enter, dispatch_op_exit, is_profiler_enabled


class Tensor:
    """A tensor of somebody else's framework."""

    def __init__(self, *shape, dtype="float32"):
        self.shape = shape
        self.dtype = dtype


def call(name, device="cpu", args=(), kwargs=None, body=lambda: None):
    token = dispatch_op_enter(name, device, args, kwargs)
    try:
        return body()
    finally:
        dispatch_op_exit(token)


def test_the_profiler_says_whether_it_records(record):
    assert is_profiler_enabled() is False
    with record():
        assert is_profiler_enabled() is True
    assert is_profiler_enabled() is False


def test_without_a_profile_there_is_no_token():
    token = dispatch_op_enter("add", "cpu", (), {})
    assert token is None
    dispatch_op_exit(token)


def test_an_op_call_is_an_event_of_kind_op(record):
    with record() as recorded:
        call("foreign::add")
    (event,) = recorded.events
    assert (event["name"], event["kind"], event["device_type"]) == ("foreign::add", "op", "CPU")


def test_op_calls_nest(record):
    with record() as recorded:
        call("outer", body=lambda: call("inner"))
    outer, inner = recorded.events
    assert outer["start_ns"] <= inner["start_ns"] <= inner["end_ns"] <= outer["end_ns"]


def test_an_exception_in_a_kernel_ends_the_event(record):
    def fail():
        raise ValueError("kernel")

    with record() as recorded:
        with pytest.raises(ValueError, match="kernel"):
            call("fails", body=fail)
        call("after")
    fails, after = recorded.events
    assert fails["end_ns"] <= after["start_ns"]


def test_a_token_that_is_dropped_ends_the_event(record):
    with record() as recorded:
        dispatch_op_enter("dropped", None, (), None)
        call("after")
    dropped, after = recorded.events
    assert dropped["end_ns"] <= after["start_ns"]


def test_a_second_exit_does_nothing(record):
    with record() as recorded:
        token = dispatch_op_enter("once", "cpu", (), None)
        dispatch_op_exit(token)
        call("after")
        dispatch_op_exit(token)
    once, after = recorded.events
    assert once["end_ns"] <= after["start_ns"]


def test_an_exit_after_the_profile_does_nothing(record):
    with record() as recorded:
        token = dispatch_op_enter("late", "cpu", (), None)
    dispatch_op_exit(token)
    assert recorded.names() == ["late"]


@pytest.mark.parametrize(("device", "expected"), [("npu", "NPU"), ("npu:1", "NPU"), ("cuda:0", "CUDA"), ("cpu", "CPU"), (None, "CPU")])
def test_the_device_can_be_a_text(record, device, expected):
    with record() as recorded:
        call("op", device)
    assert recorded.events[0]["device_type"] == expected


def test_the_device_can_be_an_object_with_type_and_index(record):
    class Device:
        type = "npu"
        index = 1

    with record() as recorded:
        call("op", Device())
    assert recorded.events[0]["device_type"] == "NPU"


def test_an_unknown_device_is_not_an_error(record):
    with record() as recorded:
        call("op", "tpu:3")
        call("op", object())
    assert len(recorded.events) == 2


def test_shapes_of_positional_and_keyword_tensors_and_of_lists_are_recorded(record):
    with record(record_shapes=True) as recorded:
        call("op", "cpu", (Tensor(2, 3), [Tensor(4), Tensor(5, 6)], 1.5), {"out": Tensor(7), "alpha": 2})
    shapes = recorded.events[0]["input_shapes"]
    assert json.loads(json.dumps(shapes)) == [[2, 3], [[4], [5, 6]], [], [7], []]


def test_without_record_shapes_arguments_are_not_looked_at(record):
    class Watched:
        @property
        def shape(self):
            raise AssertionError("looked at")

    with record() as recorded:
        call("op", "cpu", (Watched(),))
    assert "input_shapes" not in recorded.events[0]


def test_numpy_arrays_are_tensors(record):
    with record(record_shapes=True) as recorded:
        call("op", "cpu", (numpy.zeros((2, 3)), numpy.zeros((4, 5), numpy.int32).T, numpy.float32(1)))
    assert recorded.events[0]["input_shapes"] == [[2, 3], [5, 4], []]


def test_arguments_that_raise_are_left_as_they_are(record):
    class Broken:
        @property
        def shape(self):
            raise RuntimeError("no shape today")

    class Strange:
        shape = (2, None, "x")
        dtype = property(lambda self: 1 / 0)

    with record(record_shapes=True) as recorded:
        call("op", "cpu", (Broken(), Strange(), object(), Tensor, 1 << 80, [1 << 80], "text", None, True, (1, 2.5)))
    shapes = recorded.events[0]["input_shapes"]
    assert len(shapes) == 10
    assert shapes[1] == [2, -1, -1]


def test_looking_at_arguments_may_itself_dispatch(record):
    class Lazy:
        @property
        def shape(self):
            call("materialize")
            return (3,)

    with record(record_shapes=True) as recorded:
        call("op", "cpu", (Lazy(), Lazy()))
    assert recorded.names() == ["materialize", "materialize", "op"]
    assert recorded.named("op")[0]["input_shapes"] == [[3], [3]]


def test_a_list_of_thousands_of_tensors_is_no_error(record):
    with record(record_shapes=True) as recorded:
        call("op", "cpu", ([Tensor(1)] * 100_000, Tensor(2)))
        call("op", "cpu", [Tensor(3)] * 100_000)
    assert recorded.names() == ["op", "op"]


def test_keywords_work_and_wrong_calls_are_refused(record):
    with record() as recorded:
        dispatch_op_exit(dispatch_op_enter(name="op", device="cpu", args=(), kwargs={}))
    assert recorded.names() == ["op"]
    with pytest.raises(TypeError, match="name must be a str, got int"):
        dispatch_op_enter(1, "cpu", (), {})
    with pytest.raises(TypeError, match="needs the argument .name."):
        dispatch_op_enter(device="cpu")
    with pytest.raises(TypeError, match="unexpected keyword argument 'shape'"):
        dispatch_op_enter("op", shape=1)
    with pytest.raises(TypeError, match="expected what dispatch_op_enter"):
        dispatch_op_exit(3)


def test_a_token_may_be_closed_by_another_thread(record):
    with record() as recorded:
        token = dispatch_op_enter("handed over", "cpu", (), None)
        thread = threading.Thread(target=dispatch_op_exit, args=(token,))
        thread.start()
        thread.join()
    (event,) = recorded.events
    assert event["end_ns"] > event["start_ns"]
