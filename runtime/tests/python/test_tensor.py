"""Tensors: how they are made, what they know of themselves, how they look."""

import copy
import math
import pickle
import weakref

import mindtorch_v2 as torch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def test_data_decides_the_type_of_a_tensor():
    assert torch.tensor([1, 2]).dtype is torch.int64
    assert torch.tensor([1, 2.5]).dtype is torch.float32
    assert torch.tensor([True, False]).dtype is torch.bool
    assert torch.tensor([True, 2]).dtype is torch.int64
    assert torch.tensor([]).dtype is torch.float32
    assert torch.tensor(3).dtype is torch.int64
    assert torch.arange(0, 4).dtype is torch.int64
    assert torch.arange(0, 4, 0.5).dtype is torch.float32
    assert torch.full((2,), 1).dtype is torch.int64


def test_creation_functions_take_sizes_type_and_gradient():
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    assert x.shape == (2, 3) and x.dtype is torch.float64 and x.requires_grad and x.is_leaf
    assert torch.zeros((4,)).tolist() == [0.0] * 4
    assert torch.zeros(()).dim() == 0
    assert torch.ones(size=(2,)).shape == (2,)
    assert torch.full((2, 2), 7.0).tolist() == [[7.0, 7.0], [7.0, 7.0]]
    assert torch.eye(2).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert torch.linspace(0, 1, 3).tolist() == [0.0, 0.5, 1.0]
    assert torch.zeros_like(x, dtype=torch.int32).dtype is torch.int32
    assert x.new_zeros((3,)).dtype is torch.float64


def test_the_shape_is_a_tuple_that_prints_as_torchs():
    shape = torch.zeros(2, 3, 4).shape
    assert shape == (2, 3, 4) and isinstance(shape, tuple) and repr(shape) == "torch.Size([2, 3, 4])"
    assert isinstance(shape[1:], torch.Size) and shape[1:] == (3, 4)
    assert shape.numel() == 24 and hash(shape) == hash((2, 3, 4))
    assert torch.zeros(3).size(0) == 3 and torch.zeros(2, 3).size(-1) == 3 and torch.zeros(2, 3).stride() == (3, 1)


def test_dtypes_and_devices_are_values():
    assert repr(torch.float32) == "torch.float32" and torch.float is torch.float32 and torch.long is torch.int64
    assert torch.float64.itemsize == 8 and torch.float32.is_floating_point and not torch.int64.is_floating_point
    assert torch.device("cpu") == torch.device("cpu") and str(torch.device("npu", 1)) == "npu:1"
    assert repr(torch.device("npu:1")) == "device(type='npu', index=1)" and torch.device("cpu").index is None
    assert copy.deepcopy(torch.float32) is torch.float32 and pickle.loads(pickle.dumps(torch.int64)) is torch.int64
    assert len({torch.device("cpu"), torch.device("cpu"), torch.device("npu")}) == 2
    with pytest.raises(RuntimeError, match="Invalid device string: 'tpu'"):
        torch.device("tpu")


def test_one_tensor_is_one_object():
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    assert x.grad is x.grad
    y = torch.zeros(2)
    assert y.add_(1) is y
    y.name = "counts"
    assert y.mul_(2).name == "counts"
    assert x.view(2) is not x


def test_a_tensor_can_be_watched_and_goes_away():
    x = torch.ones(2)
    seen = weakref.ref(x)
    del x
    assert seen() is None


def test_numbers_come_out_of_tensors():
    assert torch.tensor(2.5).item() == 2.5 and isinstance(torch.tensor(2).item(), int) and torch.tensor(True).item() is True
    assert float(torch.tensor([3.0])) == 3.0 and int(torch.tensor(3.9)) == 3 and bool(torch.tensor([0])) is False
    assert [10, 20, 30][torch.tensor(1)] == 20
    assert f"{torch.tensor(1.23456):.2f}" == "1.23"
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(torch.ones(2))
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        torch.ones(2).item()


def test_tensors_have_a_length_and_can_be_iterated():
    rows = list(torch.arange(6).reshape(3, 2))
    assert len(torch.zeros(3, 2)) == 3 and [r.tolist() for r in rows] == [[0, 1], [2, 3], [4, 5]]
    assert 4 in torch.arange(6) and 9 not in torch.arange(6)
    with pytest.raises(TypeError, match="len\\(\\) of a 0-d tensor"):
        len(torch.tensor(1))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(torch.tensor(1))


def test_types_change_on_the_way():
    x = torch.tensor([1.5, 2.5])
    assert x.long().tolist() == [1, 2] and x.double().dtype is torch.float64 and x.to(torch.int32).dtype is torch.int32
    assert x.to(torch.float32) is x and x.to(torch.float32, copy=True) is not x
    assert x.type() == "torch.FloatTensor" and x.to(torch.zeros(1, dtype=torch.float64)).dtype is torch.float64
    assert x.to("cpu") is x and x.cpu() is x and x.to("cpu", torch.float64, False, True).dtype is torch.float64
    assert x.to(dtype=torch.int64, device="cpu", non_blocking=True).dtype is torch.int64 and x.to(None) is x
    with pytest.raises(TypeError, match="unexpected keyword argument 'kind'"):
        x.to(kind=torch.int64)
    with pytest.raises(TypeError, match="expected a dtype, a device or a Tensor, got float"):
        x.to(1.5)


def test_copies_of_tensors_are_their_own():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = copy.deepcopy(x)
    assert y.requires_grad and y.tolist() == [1.0, 2.0] and y.data_ptr() != x.data_ptr()
    z = pickle.loads(pickle.dumps(x))
    assert z.tolist() == [1.0, 2.0] and z.requires_grad
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_data_shares_memory_and_has_no_history():
    x = torch.ones(2, requires_grad=True)
    x.data.mul_(3)
    assert x.tolist() == [3.0, 3.0] and not x.data.requires_grad
    x.data = torch.zeros(3)
    assert x.shape == (3,) and x.requires_grad
    version = x._version
    x.detach().add_(1)
    assert x._version == version + 1


def test_ragged_and_foreign_data_is_refused():
    with pytest.raises(ValueError, match=r"expected sequence of length 2 at dim 1 \(got 1\)"):
        torch.tensor([[1, 2], [3]])
    with pytest.raises(TypeError, match="must be a number or a sequence of numbers, got str"):
        torch.tensor(["a"])


def test_seeds_make_numbers_repeat():
    torch.manual_seed(3)
    a = torch.randn(5)
    torch.manual_seed(3)
    assert torch.equal(a, torch.randn(5))
    generator = torch.Generator().manual_seed(3)
    b = torch.empty(5).normal_(generator=generator)
    assert torch.equal(a, b)
    state = torch.get_rng_state()
    c = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.equal(c, torch.rand(3))
    assert torch.randint(5, (100,)).max().item() <= 4 and torch.randint(2, 5, (100,)).min().item() >= 2


def test_the_default_type_can_be_changed():
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.tensor([1.0]).dtype is torch.float64 and torch.zeros(1).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.get_default_dtype() is torch.float32


NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=32) | st.integers(-5, 5).map(float)


@pytest.mark.torch
@settings(max_examples=150, deadline=None)
@given(values=st.lists(NUMBERS, min_size=0, max_size=40), columns=st.integers(1, 4))
def test_floating_point_tensors_print_as_torchs(values, columns):
    import torch as reference

    rows = len(values) // columns
    data = [values[i * columns : (i + 1) * columns] for i in range(rows)]
    for shape in (data, values):
        if len(shape):
            assert repr(torch.tensor(shape)) == repr(reference.tensor(shape))


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (3,), (40,), (2, 3), (2, 2, 2), (1500,), (50, 40), (3, 30, 30), (11, 11, 11)])
@pytest.mark.parametrize("kind", ["float32", "float64", "int64", "int32", "bool", "uint8"])
def test_tensors_of_every_shape_and_type_print_as_torchs(shape, kind):
    import torch as reference

    count = math.prod(shape)
    values = reference.arange(count).reshape(shape) * 7 % 23
    ours = torch.arange(count).reshape(shape)
    ours = torch.remainder(ours * 7, 23)
    assert repr(ours.to(getattr(torch, kind))) == repr(values.to(getattr(reference, kind)))


@pytest.mark.torch
def test_history_is_printed_as_torch_prints_it():
    import torch as reference

    def texts(t):
        x = t.ones(2, requires_grad=True)
        return [repr(x), repr(x * 2), repr((x * 2).sum()), repr(t.nn.Parameter(t.ones(2))), repr(t.ones(20) * x[0])]

    assert texts(torch) == texts(reference)
