"""Creation functions take requires_grad."""

import mindtorch_v2 as torch
import pytest

CREATION = {
    "arange": (3.0,),
    "empty": (2,),
    "empty_like": (torch.ones(2),),
    "eye": (2,),
    "full": ((2,), 3.0),
    "full_like": (torch.ones(2), 3.0),
    "linspace": (0, 1, 3),
    "ones": (2,),
    "ones_like": (torch.ones(2),),
    "rand": (2,),
    "rand_like": (torch.ones(2),),
    "randn": (2,),
    "randn_like": (torch.ones(2),),
    "tensor": ([1.0],),
    "zeros": (2,),
    "zeros_like": (torch.ones(2),),
}


# Rule: ops.autograd


@pytest.mark.parametrize("create", ["ones", "zeros", "rand", "randn", "empty"])
def test_creation_functions_take_requires_grad(create):
    assert getattr(torch, create)((2, 2), requires_grad=True).requires_grad
    assert torch.tensor([1.0], requires_grad=True).requires_grad and torch.full((2,), 3.0, requires_grad=True).requires_grad


@pytest.mark.parametrize("name", CREATION)
def test_every_creation_function_takes_requires_grad(name):
    made = getattr(torch, name)(*CREATION[name], requires_grad=True)
    assert made.requires_grad and made.is_leaf
    made.sum().backward()
    assert made.grad.shape == made.shape
