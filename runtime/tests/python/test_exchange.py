"""NumPy, DLPack and the buffer protocol: the same memory on both sides, for as long as either needs it."""

import array
import gc
import warnings

import mindtorch_v2 as torch
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

TYPES = ["float32", "float64", "int64", "int32", "uint8", "bool"]


@pytest.mark.parametrize("kind", TYPES)
def test_numpy_and_tensor_share_memory(kind):
    source = np.arange(6).reshape(2, 3).astype(kind)
    x = torch.from_numpy(source)
    assert x.shape == (2, 3) and x.dtype is getattr(torch, kind) and x.data_ptr() == source.ctypes.data
    source[0, 1] = 0
    assert x[0, 1].item() == 0
    back = x.numpy()
    assert back.dtype == np.dtype(kind) and back.ctypes.data == source.ctypes.data and back.flags.writeable
    x[1, 2] = 1
    assert source[1, 2] == 1 and back[1, 2] == 1


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_a_tensor_without_elements_is_an_array_without_elements(shape):
    array = torch.ones(shape).numpy()
    assert array.shape == shape and array.dtype == np.float32
    assert torch.from_numpy(array).shape == shape


@settings(max_examples=60, deadline=None)
@given(shape=st.lists(st.integers(0, 4), max_size=4), order=st.randoms(use_true_random=False), step=st.integers(1, 2))
def test_strides_survive_the_way_to_numpy_and_back(shape, order, step):
    source = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    axes = list(range(len(shape)))
    order.shuffle(axes)
    view = np.asarray(source.transpose(axes)[tuple(slice(None, None, step) for _ in shape)]).view()
    x = torch.from_numpy(view)
    np.testing.assert_array_equal(x.numpy(), view)
    np.testing.assert_array_equal(np.asarray(x), view)
    np.testing.assert_array_equal((x + 1).numpy(), view + 1)
    assert x.tolist() == view.tolist()
    np.testing.assert_array_equal(torch.tensor(view).numpy(), view)


def test_an_array_keeps_its_tensor_alive_and_the_other_way_round():
    a = torch.arange(5.0).numpy()
    gc.collect()
    assert a.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    x = torch.from_numpy(np.arange(5.0))
    gc.collect()
    assert x.sum().item() == 10.0
    view = x[1:3]
    del x
    gc.collect()
    assert view.tolist() == [1.0, 2.0]


def test_memory_is_given_back_with_the_last_tensor():
    import sys

    a = np.ones(10)
    count = sys.getrefcount(a)
    x = torch.from_numpy(a)
    y = x[2:]
    assert sys.getrefcount(a) > count
    del x, y
    assert sys.getrefcount(a) == count


def test_numpys_functions_take_tensors():
    x = torch.tensor([[3.0, 1.0], [2.0, 4.0]])
    assert np.sum(x) == 10.0 and np.allclose(x, [[3, 1], [2, 4]]) and np.asarray(x, dtype=np.float64).dtype == np.float64
    assert np.asarray(x).ctypes.data == x.data_ptr() and np.array(x).ctypes.data != x.data_ptr()


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(4)[::-1])
    with pytest.raises(TypeError, match="The only supported types are"):
        torch.from_numpy(np.ones(2, dtype=np.complex64))
    with pytest.raises(TypeError, match="expected np.ndarray"):
        torch.from_numpy([1, 2])
    x = torch.ones(2, requires_grad=True)
    assert x.detach().numpy().tolist() == [1.0, 1.0] and x.numpy(force=True).tolist() == [1.0, 1.0]


def test_buffers_share_memory():
    source = array.array("d", [1.0, 2.0, 3.0])
    x = torch.frombuffer(source, dtype=torch.float64)
    x[0] = 9.0
    assert source[0] == 9.0
    assert torch.frombuffer(bytearray(b"\x01\x00\x00\x00\x02\x00\x00\x00"), dtype=torch.int32, offset=4).tolist() == [2]


@pytest.mark.parametrize("kind", TYPES)
def test_dlpack_shares_memory_with_numpy(kind):
    if kind == "bool" and np.lib.NumpyVersion(np.__version__) < "1.25.0":
        pytest.skip("this NumPy has no DLPack of bool")
    source = np.arange(12).reshape(3, 4).astype(kind)[:, 1:3]
    x = torch.from_dlpack(source)
    assert x.data_ptr() == source.ctypes.data and x.stride() == (4, 1)
    np.testing.assert_array_equal(x.numpy(), source)
    back = np.from_dlpack(x)
    assert back.ctypes.data == x.data_ptr()
    del x
    gc.collect()
    np.testing.assert_array_equal(back, source)


def test_a_capsule_is_consumed_once_and_frees_its_memory_if_it_is_not_consumed():
    x = torch.ones(3)
    before = torch._runtime.cpu_memory_allocated()
    capsule = x.__dlpack__()
    y = torch.from_dlpack(capsule)
    assert y.data_ptr() == x.data_ptr() and x.__dlpack_device__() == (1, 0)
    with pytest.raises(TypeError, match="not consumed"):
        torch.from_dlpack(capsule)
    big = torch.ones(1000)
    capsule = big.__dlpack__(max_version=(1, 0))
    del big, capsule
    gc.collect()
    assert torch._runtime.cpu_memory_allocated() == before
    with pytest.raises(BufferError, match="require gradient"):
        torch.ones(1, requires_grad=True).__dlpack__()


@pytest.mark.torch
@pytest.mark.parametrize("kind", TYPES)
def test_dlpack_shares_memory_with_torch(kind):
    import torch as reference

    theirs = reference.arange(6).reshape(2, 3).to(getattr(reference, kind)).t()
    mine = torch.from_dlpack(theirs)
    assert mine.data_ptr() == theirs.data_ptr() and mine.tolist() == theirs.tolist() and mine.stride() == theirs.stride()
    back = reference.from_dlpack(mine)
    assert back.data_ptr() == theirs.data_ptr() and back.tolist() == theirs.tolist()
    del theirs, mine
    gc.collect()
    assert back.shape == (3, 2)


def test_memory_that_must_not_be_written_to_is_warned_about():
    source = np.arange(3.0)
    source.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        torch.from_numpy(source)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.tensor(source).tolist() == [0.0, 1.0, 2.0]


def test_numpys_numbers_may_stand_on_the_left():
    x = torch.ones(2)
    for number in (np.float64(3.0), np.float32(3.0), np.int64(3)):
        for result in (number * x, number + x - 0, number - x + 1):
            assert isinstance(result, torch.Tensor)
