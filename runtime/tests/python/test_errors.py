"""Wrong calls: the exception and the words."""

import mindtorch_v2 as torch
import pytest

x = torch.ones(2, 3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: torch.mm(x), TypeError, r'mm\(\) missing 1 required positional arguments: "mat2"'),
        (lambda: torch.mm(x, 3), TypeError, r"mm\(\): argument 'mat2' \(position 2\) must be Tensor, not int"),
        (lambda: torch.relu(x, x), TypeError, r"relu\(\) takes 1 positional argument but 2 were given"),
        (lambda: torch.relu(x, slope=1), TypeError, r"relu\(\) got an unexpected keyword argument 'slope'"),
        (
            lambda: torch.add(x, "a"),
            TypeError,
            r"add\(\) received an invalid combination of arguments - got \(Tensor, str\)",
        ),
        (lambda: torch.add(x, "a"), TypeError, r"\* \(Tensor input, Tensor other, \*, Number alpha = 1\)"),
        (lambda: torch.zeros("a"), TypeError, r"zeros\(\): argument 'size' \(position 1\) must be tuple of ints, not str"),
        (lambda: torch.zeros(2, dtype="float"), TypeError, r"zeros\(\): argument 'dtype' must be torch.dtype, not str"),
        (lambda: x + "a", TypeError, r"unsupported operand type\(s\) for \+: 'Tensor' and 'str'"),
        (lambda: x @ 3, TypeError, r"unsupported operand type\(s\) for @: 'Tensor' and 'int'"),
        (lambda: x < "a", TypeError, r"'<' not supported between instances of 'Tensor' and 'str'"),
        (
            lambda: x + torch.ones(4),
            RuntimeError,
            r"The size of tensor a \(3\) must match the size of tensor b \(4\)",
        ),
        (lambda: x @ torch.ones(2, 3), RuntimeError, r"mat1 and mat2 shapes cannot be multiplied \(2x3 and 2x3\)"),
        (lambda: x[5], IndexError, r"index 5 is out of bounds for dimension 0 with size 2"),
        (lambda: x[0, 0, 0], IndexError, r"too many indices for tensor of dimension 2"),
        (lambda: x["a"], IndexError, r"only integers, slices"),
        (lambda: x[torch.tensor([7])], IndexError, r"index 7 is out of bounds for dimension 0 with size 2"),
        (lambda: x.view(7), RuntimeError, r"shape '\[7\]' is invalid for input of size 6"),
        (lambda: x.sum(5), IndexError, r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 5\)"),
        (lambda: x.numpy().sum(5), Exception, r"axis 5"),
        (lambda: torch.ones(2, requires_grad=True).numpy(), RuntimeError, r"Can't call numpy\(\) on Tensor that requires grad"),
        (
            lambda: torch.ones(2, requires_grad=True).add_(1),
            RuntimeError,
            r"a leaf Variable that requires grad is being used",
        ),
        (lambda: (x * 1).backward(), RuntimeError, r"does not require grad and does not have a grad_fn"),
        (
            lambda: (torch.ones(2, requires_grad=True) * 2).backward(),
            RuntimeError,
            r"grad can be implicitly created only for scalar",
        ),
        (
            lambda: torch.ones(2, dtype=torch.int64).requires_grad_(),
            RuntimeError,
            r"only Tensors of floating point dtype",
        ),
        (lambda: torch.no_such_thing, AttributeError, r"module 'mindtorch_v2' has no attribute 'no_such_thing'"),
        (lambda: x.no_such_thing, AttributeError, r"no_such_thing"),
        (lambda: torch.ones(2, device="npu:7"), RuntimeError, r"npu"),
        (lambda: -torch.tensor([True]), RuntimeError, r"Negation, the `-` operator, on a bool tensor is not supported"),
        (lambda: torch.tensor([1, 2]).normal_(), RuntimeError, r"not implemented for 'Long'"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.torch
@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.mm(x),
        lambda t, x: t.mm(x, 3),
        lambda t, x: x + "a",
        lambda t, x: x[5],
        lambda t, x: t.add(x, "a", "b"),
        lambda t, x: x.reshape("a"),
    ],
)
def test_type_errors_are_torchs(call):
    import torch as reference

    with pytest.raises(Exception) as theirs:
        call(reference, reference.ones(2, 3))
    with pytest.raises(theirs.type):
        call(torch, x)


def test_equality_with_something_else_is_identity():
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True
