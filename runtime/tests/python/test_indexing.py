"""x[...] and x[...] = value, as NumPy and PyTorch read them."""

import mindtorch_v2 as torch
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPE = (4, 5, 3)


def data():
    return np.arange(60, dtype=np.float64).reshape(SHAPE)


def positions(size):
    return st.integers(-size, size - 1)


def slices(size):
    return st.builds(slice, st.none() | positions(size), st.none() | positions(size), st.none() | st.integers(1, 3))


def arrays_of_indices(size):
    return st.lists(positions(size), min_size=1, max_size=4)


@st.composite
def simple_indices(draw):
    """Integers, slices, None and at most one ellipsis."""
    items = []
    for size in SHAPE[: draw(st.integers(0, 3))]:
        items.append(draw(positions(size) | slices(size)))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), None)
    if draw(st.booleans()):
        rest = len([i for i in items if i is not None])
        if rest == 0:
            items.append(Ellipsis)
    return tuple(items)


@st.composite
def indices_with_lists(draw):
    """One or two lists of integers of one length among slices and integers."""
    length = draw(st.integers(1, 4))
    lists = draw(st.sets(st.integers(0, 2), min_size=1, max_size=2))
    items = []
    for d, size in enumerate(SHAPE):
        if d in lists:
            items.append(draw(st.lists(positions(size), min_size=length, max_size=length)))
        else:
            items.append(draw(slices(size)))
    return tuple(items)


def ours(index):
    return tuple(torch.tensor(i) if isinstance(i, list) else i for i in index)


@settings(max_examples=200, deadline=None)
@given(index=simple_indices())
def test_simple_indices_give_views_of_what_numpy_gives(index):
    x = torch.from_numpy(data())
    expected = data()[index]
    part = x[index]
    assert tuple(part.shape) == expected.shape
    np.testing.assert_array_equal(part.numpy(), expected)
    if expected.size:
        part.fill_(-1.0)
        assert (x == -1).sum().item() == expected.size


@settings(max_examples=200, deadline=None)
@given(index=indices_with_lists())
def test_lists_of_integers_pick_what_numpy_picks(index):
    expected = data()[index]
    for form in (ours(index), index):
        part = torch.from_numpy(data())[form]
        assert tuple(part.shape) == expected.shape
        np.testing.assert_array_equal(part.numpy(), expected)


@settings(max_examples=200, deadline=None)
@given(index=simple_indices() | indices_with_lists(), spread=st.booleans())
def test_assignment_writes_where_numpy_writes(index, spread):
    x, expected = torch.from_numpy(data().transpose(2, 0, 1).copy()).permute(1, 2, 0), data()
    shape = expected[index].shape
    # Values that do not depend on the position: a position that is named twice may get either.
    value = np.full(shape, 7.0) if spread else np.full(shape[-1:], 7.0)
    expected[index] = value
    x[ours(index)] = torch.from_numpy(value)
    np.testing.assert_array_equal(x.numpy(), expected)
    x[ours(index)] = 9.0
    expected[index] = 9.0
    np.testing.assert_array_equal(x.numpy(), expected)


@settings(max_examples=100, deadline=None)
@given(bits=st.lists(st.booleans(), min_size=20, max_size=20), dims=st.integers(1, 2))
def test_masks_pick_and_write_what_numpy_does(bits, dims):
    mask = np.array(bits).reshape(4, 5) if dims == 2 else np.array(bits[:4])
    x, expected = torch.from_numpy(data()), data()
    np.testing.assert_array_equal(x[torch.from_numpy(mask)].numpy(), expected[mask])
    x[torch.from_numpy(mask)] = 3.0
    expected[mask] = 3.0
    np.testing.assert_array_equal(x.numpy(), expected)
    values = np.arange(expected[mask].size, dtype=np.float64).reshape(expected[mask].shape)
    x[torch.from_numpy(mask)] = torch.from_numpy(values)
    expected[mask] = values
    np.testing.assert_array_equal(x.numpy(), expected)


def test_columns_by_list_after_a_slice():
    x, a = torch.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4)
    np.testing.assert_array_equal(x[:, [0, 2]].numpy(), a[:, [0, 2]])
    np.testing.assert_array_equal(x[[0, 2], 1:3].numpy(), a[[0, 2], 1:3])
    np.testing.assert_array_equal(x[torch.tensor([[0, 1], [2, 0]])].numpy(), a[np.array([[0, 1], [2, 0]])])
    np.testing.assert_array_equal(x[np.array([0, 2])].numpy(), a[np.array([0, 2])])
    assert x[torch.tensor(1), torch.tensor(2)].item() == 6
    assert x[True].shape == (1, 3, 4) and x[False].shape == (0, 3, 4)
    assert x[[]].shape == (0, 4)


def test_gradients_go_through_indices():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    (x[torch.tensor([0, 0, 1]), torch.tensor([1, 1, 2])] * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [[0.0, 11.0, 0.0], [0.0, 0.0, 100.0]]
    x.grad = None
    x[x.detach() > 2].sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]


def test_gradients_go_through_assignments():
    x, v = torch.ones(4, requires_grad=True), torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    y[torch.tensor([1, 3])] = v * v
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0, 0.0] and v.grad.tolist() == [4.0, 6.0]


@pytest.mark.torch
def test_nonzero_and_masked_select_are_torchs():
    import torch as reference

    values = [[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]]
    mine, theirs = torch.tensor(values), reference.tensor(values)
    assert mine.nonzero().tolist() == theirs.nonzero().tolist()
    assert [t.tolist() for t in mine.nonzero(as_tuple=True)] == [t.tolist() for t in theirs.nonzero(as_tuple=True)]
    assert mine.masked_select(mine > 0).tolist() == theirs.masked_select(theirs > 0).tolist()
    assert torch.nonzero(torch.zeros(2, 3)).shape == (0, 2)
