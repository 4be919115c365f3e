"""Gradients: backward, grad, hooks, modes, functions of one's own."""

import gc
import threading
import weakref

import mindtorch_v2 as torch
import pytest
from mindtorch_v2.autograd import Function


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def test_backward_adds_up_gradients_of_leaves():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    x.grad = None
    y = x * 2
    y.backward(torch.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 20.0] and y.grad is None


def test_a_graph_is_used_once_unless_it_is_retained():
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


def test_grad_gives_gradients_without_adding_them():
    x, unused = leaf(3.0), leaf(1.0)
    (gradient,) = torch.autograd.grad((x * x).sum(), x)
    assert gradient.item() == 6.0 and x.grad is None
    assert torch.autograd.grad((x * x).sum(), (x, unused), allow_unused=True)[1] is None
    assert torch.autograd.grad((x * x).sum(), (x, unused), materialize_grads=True)[1].item() == 0.0
    with pytest.raises(RuntimeError, match="allow_unused"):
        torch.autograd.grad((x * x).sum(), (x, unused))


def test_gradients_have_gradients():
    x = leaf(2.0)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.item() == 12.0 and second.item() == 12.0


def test_backward_can_be_limited_to_inputs():
    x, y = leaf(2.0), leaf(3.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.item() == 3.0 and y.grad is None


def test_the_graph_can_be_walked():
    x = leaf(1.0)
    y = (x * 2).sum()
    assert y.grad_fn.name() == "SumBackward0" and repr(y.grad_fn).startswith("<SumBackward0 object at")
    (step, slot), *_ = y.grad_fn.next_functions
    assert step.name() == "MulBackward0" and slot == 0
    assert step.next_functions[0][0].variable is x
    assert x.grad_fn is None and x.is_leaf and not y.is_leaf and y.grad_fn == y.grad_fn


def test_hooks_see_and_replace_gradients():
    x = leaf(1.0, 2.0)
    y = x * 2
    seen = []
    handle = y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 10)
    y.sum().backward(retain_graph=True)
    assert seen == [[1.0, 1.0]] and x.grad.tolist() == [20.0, 20.0]
    handle.remove()
    handle.remove()
    y.sum().backward()
    assert len(seen) == 1


def test_an_error_in_a_hook_is_the_users():
    x = leaf(1.0)
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * 2).sum().backward()
    y = leaf(1.0)
    y.register_hook(lambda g: "no tensor")
    with pytest.raises(TypeError, match="expected Tensor or None"):
        (y * 2).sum().backward()


def test_retain_grad_keeps_gradients_of_results():
    x = leaf(1.0)
    y = x * 3
    y.retain_grad()
    (y * y).sum().backward()
    assert y.grad.item() == 6.0 and y.retains_grad


def test_modes_nest_and_decorate():
    x = leaf(1.0)
    with torch.no_grad():
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()

    @torch.no_grad()
    def double():
        return x * 2

    @torch.no_grad
    def triple():
        return x * 3

    @torch.no_grad()
    def numbers():
        yield (x * 2).requires_grad
        yield torch.is_grad_enabled()

    assert not double().requires_grad and not triple().requires_grad and torch.is_grad_enabled()
    generator = numbers()
    assert next(generator) is False and torch.is_grad_enabled() and next(generator) is False
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)


def test_modes_are_restored_after_errors_and_belong_to_a_thread():
    with pytest.raises(ValueError, match="x"), torch.no_grad():
        raise ValueError("x")
    assert torch.is_grad_enabled()
    with torch.no_grad():
        seen = []
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


class Cube(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x * x * factor

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x * ctx.factor, None


def test_a_function_brings_its_own_backward():
    x = leaf(2.0)
    y = Cube.apply(x, 10.0)
    assert y.item() == 80.0 and y.grad_fn.name() == "CubeBackward"
    y.sum().backward()
    assert x.grad.item() == 120.0
    assert not Cube.apply(x.detach(), 1.0).requires_grad


def test_a_function_can_be_differentiated_twice():
    x = leaf(2.0)
    (first,) = torch.autograd.grad(Cube.apply(x, 1.0).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.item() == 12.0


def test_a_function_frees_what_it_saved():
    x = leaf(2.0)
    y = Cube.apply(x, 1.0)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_function_notices_that_what_it_saved_was_changed():
    x = leaf(2.0)
    z = x * 1
    y = Cube.apply(z, 1.0)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


class Exponential(Function):
    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result


def test_a_function_that_saves_its_result_does_not_leak():
    x = leaf(0.0)
    y = Exponential.apply(x)
    seen = weakref.ref(y)
    y.sum().backward()
    assert x.grad.item() == 1.0
    del y
    gc.collect()
    assert seen() is None


class TwoResults(Function):
    @staticmethod
    def forward(ctx, a, b):
        order = (a > b).to(torch.int64)
        ctx.mark_non_differentiable(order)
        return a * b, a + b, order

    @staticmethod
    def backward(ctx, product, total, order):
        return product * 1 + total, product * 2 + total


def test_a_function_has_several_results():
    a, b = leaf(2.0), leaf(3.0)
    product, total, order = TwoResults.apply(a, b)
    assert not order.requires_grad
    (product + 10 * total).sum().backward()
    assert a.grad.item() == 11.0 and b.grad.item() == 12.0
    a.grad = None
    TwoResults.apply(a, b)[1].sum().backward()  # the other result gets zeros
    assert a.grad.item() == 1.0


class InPlace(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


def test_a_function_may_change_its_input():
    x = leaf(1.0)
    y = x * 1
    z = InPlace.apply(y)
    assert z is y and y.item() == 2.0
    z.sum().backward()
    assert x.grad.item() == 5.0


def test_a_wrong_number_of_gradients_is_an_error():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(RuntimeError, match="returned an incorrect number of gradients \\(expected 2, got 1\\)"):
        Wrong.apply(leaf(1.0), leaf(1.0)).sum().backward()


def test_errors_in_backward_are_the_users():
    class Fails(Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, grad):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Fails.apply(leaf(1.0)).sum().backward()


def test_threads_compute_gradients_side_by_side():
    results = {}

    def work(number):
        x = torch.full((64, 64), float(number), requires_grad=True)
        x.register_hook(lambda g: g * 2)
        for _ in range(20):
            x.grad = None
            (x @ x).sum().backward()
        results[number] = x.grad[0, 0].item()

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: 2 * 128.0 * n for n in range(4)}
