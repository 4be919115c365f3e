"""Optimizers and schedules against PyTorch's, over many steps."""

import copy
import inspect
import math
import pickle
import warnings

import mindtorch_v2 as torch
import numpy as np
import pytest

reference = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

rng = np.random.default_rng(2)
SHAPES = [(4, 3), (3,), (2, 2, 2)]
START = [rng.uniform(-1, 1, shape) for shape in SHAPES]

OPTIMIZERS = {
    "SGD": [
        {"lr": 0.1},
        {"lr": 0.1, "momentum": 0.9},
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.01},
        {"lr": 0.05, "momentum": 0.9, "nesterov": True},
        {"lr": 0.05, "maximize": True},
    ],
    "Adam": [{"lr": 0.05}, {"lr": 0.05, "betas": (0.8, 0.95), "weight_decay": 0.1}, {"lr": 0.05, "amsgrad": True}],
    "AdamW": [{"lr": 0.05}, {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True, "maximize": True}],
    "RMSprop": [{"lr": 0.02}, {"lr": 0.02, "momentum": 0.5, "centered": True, "alpha": 0.9}, {"lr": 0.02, "weight_decay": 0.1}],
    "Adagrad": [{"lr": 0.1}, {"lr": 0.1, "lr_decay": 0.05, "initial_accumulator_value": 0.3, "weight_decay": 0.02}],
}
CASES = [(name, options) for name, all_options in OPTIMIZERS.items() for options in all_options]


def make(t, name, options):
    params = [t.tensor(a, requires_grad=True) for a in START]
    return params, getattr(t.optim, name)([{"params": params[:2]}, {"params": params[2:], "lr": 0.03}], **options)


def loss_of(params, step):
    return sum(((p * (1 + 0.1 * step % 3)).sin() ** 2).sum() for p in params)


def run(t, name, options, steps):
    params, optimizer = make(t, name, options)
    for step in range(steps):
        optimizer.zero_grad()
        loss_of(params, step).backward()
        optimizer.step()
        if step == 20:
            optimizer.param_groups[0]["lr"] *= 0.5
    return params, optimizer


@pytest.mark.parametrize(("name", "options"), CASES)
def test_fifty_steps_end_where_torchs_do(name, options):
    mine, _ = run(torch, name, options, 50)
    theirs, _ = run(reference, name, options, 50)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_state_dicts_look_like_torchs_and_can_be_exchanged(name, options):
    mine, my_optimizer = run(torch, name, options, 5)
    theirs, their_optimizer = run(reference, name, options, 5)
    ours, expected = my_optimizer.state_dict(), their_optimizer.state_dict()
    for group, other in zip(ours["param_groups"], expected["param_groups"], strict=True):
        assert {k: v for k, v in group.items() if k in other} == {k: other[k] for k in group if k in other} and group["params"] == other[
            "params"
        ]
    for number, state in expected["state"].items():
        for key, value in state.items():
            if isinstance(value, reference.Tensor):
                np.testing.assert_allclose(np.asarray(ours["state"][number][key]), value.numpy(), rtol=1e-9, atol=1e-12)
    # Go on from torch's state in a new optimizer of ours.
    saved = {
        "state": {n: {k: torch.tensor(v.numpy()) for k, v in s.items() if v is not None} for n, s in expected["state"].items()},
        "param_groups": copy.deepcopy(expected["param_groups"]),
    }
    params, resumed = make(torch, name, options)
    with torch.no_grad():
        for p, q in zip(params, theirs, strict=True):
            p.copy_(torch.tensor(q.detach().numpy()))
    resumed.load_state_dict(saved)
    for _ in range(3):
        for optimizer, values in ((resumed, params), (their_optimizer, theirs)):
            optimizer.zero_grad()
            loss_of(values, 1).backward()
            optimizer.step()
    for a, b in zip(params, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_take_torchs_arguments(name):
    def arguments(t):
        return {n: (p.kind, p.default) for n, p in inspect.signature(getattr(t.optim, name).__init__).parameters.items()}

    assert arguments(torch) == arguments(reference)


def test_training_a_model_takes_torchs_way():
    def train(t, weights):
        model = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.Tanh(), t.nn.Linear(8, 3))
        model.load_state_dict({k: t.tensor(v) for k, v in weights.items()})
        model.double()
        optimizer = t.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
        schedule = t.optim.lr_scheduler.CosineAnnealingLR(optimizer, 50)
        x, y = t.tensor(data), t.tensor(labels)
        losses = []
        for _ in range(50):
            optimizer.zero_grad()
            loss = t.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            t.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        return losses

    data, labels = rng.normal(size=(20, 4)), rng.integers(0, 3, 20)
    start = reference.nn.Sequential(reference.nn.Linear(4, 8), reference.nn.Tanh(), reference.nn.Linear(8, 3))
    weights = {k: v.numpy() for k, v in start.state_dict().items()}
    mine, theirs = train(torch, weights), train(reference, weights)
    np.testing.assert_allclose(mine, theirs, rtol=1e-7)
    assert mine[-1] < 0.8 * mine[0]


def test_optimizers_are_copied_with_their_parameters():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam([{"params": [model.weight]}, {"params": [model.bias], "lr": 0.5}], lr=0.1)

    def step(model, optimizer):
        optimizer.zero_grad()
        (model(torch.ones(1, 2)) ** 2).sum().backward()
        optimizer.step()

    step(model, optimizer)
    for copy_of in (copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))):
        other, other_optimizer = copy_of((model, optimizer))
        assert other_optimizer.param_groups[0]["params"][0] is other.weight and other_optimizer.param_groups[1]["lr"] == 0.5
        before = model.weight.clone()
        step(other, other_optimizer)
        assert torch.equal(model.weight, before) and not torch.equal(other.weight, before)
    step(model, optimizer)
    assert torch.equal(model.weight, other.weight)


def test_closures_give_the_loss():
    x = torch.tensor([2.0], requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 4.0
    assert x.item() == pytest.approx(1.6)


def test_gradients_are_reset():
    x = torch.tensor([2.0], requires_grad=True)
    optimizer = torch.optim.Adam([x])
    (x * x).sum().backward()
    optimizer.zero_grad(set_to_none=False)
    assert x.grad.item() == 0.0
    optimizer.zero_grad()
    assert x.grad is None


def test_wrong_arguments_are_refused_in_torchs_words():
    x = torch.ones(1, requires_grad=True)
    for call, words in (
        (lambda: torch.optim.SGD([x], lr=-1), "Invalid learning rate: -1"),
        (lambda: torch.optim.SGD([], lr=1), "optimizer got an empty parameter list"),
        (lambda: torch.optim.SGD([x], lr=1, nesterov=True), "Nesterov momentum requires a momentum and zero dampening"),
        (lambda: torch.optim.Adam([x], betas=(1.0, 0.9)), "Invalid beta parameter at index 0: 1.0"),
        (lambda: torch.optim.SGD([x * 1], lr=1), "can't optimize a non-leaf Tensor"),
        (lambda: torch.optim.SGD([{"params": [x]}, {"params": [x]}], lr=1), "some parameters appear in more than one parameter group"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(TypeError, match="should be an iterable of Tensors or dicts"):
        torch.optim.SGD(x, lr=1)
    with pytest.raises(TypeError, match="can only optimize Tensors"):
        torch.optim.SGD([1.0], lr=1)
    optimizer = torch.optim.SGD([x], lr=1)
    optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": []}, {"params": []}]})


def test_hooks_run_around_steps():
    x = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=0.1)
    seen = []
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    x.sum().backward()
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == ["before", "after", "after"]


def test_optimizers_can_be_written_in_python():
    class Plain(torch.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    state["count"] = state.get("count", 0) + 1
                    p.sub_(p.grad * group["lr"])

    x = torch.tensor([1.0], requires_grad=True)
    optimizer = Plain([x], 0.5)
    with torch.profiler.profile() as prof:
        (x * x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    names = [e.name for e in prof.events()]
    assert x.item() == 0.0 and "Optimizer.step#Plain.step" in names and "Optimizer.zero_grad#Plain.zero_grad" in names
    assert optimizer.state_dict()["state"] == {0: {"count": 1}}


def test_steps_are_recorded_as_in_torch():
    x = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.AdamW([x])
    with torch.profiler.profile() as prof:
        x.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    names = [e.name for e in prof.events()]
    assert names.count("Optimizer.step#AdamW.step") == 1 and names.count("Optimizer.zero_grad#AdamW.zero_grad") == 1
    assert any("addcdiv" in n for n in names)


# ---- schedules ----

SCHEDULES = {
    "StepLR": lambda s, o: s.StepLR(o, 7, gamma=0.3),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [3, 9, 9, 150], gamma=0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.97),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 20, eta_min=0.01),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
    "LambdaLR_each": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: math.cos(e)]),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, max_lr=[0.5, 0.2], total_steps=301),
    "OneCycleLR_linear": lambda s, o: s.OneCycleLR(
        o, 0.5, epochs=10, steps_per_epoch=31, pct_start=0.4, anneal_strategy="linear", three_phase=True
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_three_hundred_learning_rates_are_torchs(name, kind):
    def rates(t):
        options = {"lr": 0.1} | ({"momentum": 0.9} if kind == "SGD" else {})
        x, y = t.ones(1, requires_grad=True), t.ones(1, requires_grad=True)
        optimizer = getattr(t.optim, kind)([{"params": [x]}, {"params": [y], "lr": 0.7}], **options)
        schedule = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
        seen = []
        for _ in range(300):
            optimizer.step()
            schedule.step()
            group = optimizer.param_groups[1]
            seen.append((*(g["lr"] for g in optimizer.param_groups), group.get("momentum", group.get("betas")), *schedule.get_last_lr()))
        return seen

    assert rates(torch) == rates(reference)


@pytest.mark.parametrize("name", [n for n in SCHEDULES if "Lambda" not in n])
def test_schedules_go_on_from_their_state(name):
    def optimizer():
        return torch.optim.SGD(
            [{"params": [torch.ones(1, requires_grad=True)]}, {"params": [torch.ones(1, requires_grad=True)]}], lr=0.1, momentum=0.9
        )

    first = optimizer()
    schedule = SCHEDULES[name](torch.optim.lr_scheduler, first)
    for _ in range(25):
        first.step()
        schedule.step()
    second = optimizer()
    resumed = SCHEDULES[name](torch.optim.lr_scheduler, second)
    resumed.load_state_dict(copy.deepcopy(schedule.state_dict()))
    second.load_state_dict(first.state_dict())
    for _ in range(40):
        first.step(), second.step()
        schedule.step(), resumed.step()
        assert schedule.get_last_lr() == resumed.get_last_lr()


@pytest.mark.parametrize("name", ["LambdaLR", "StepLR", "MultiStepLR", "ExponentialLR", "CosineAnnealingLR", "OneCycleLR"])
def test_schedules_take_torchs_arguments(name):
    def arguments(t):
        parameters = inspect.signature(getattr(t.optim.lr_scheduler, name).__init__).parameters
        return {n: p.default for n, p in parameters.items()}

    assert arguments(torch) == arguments(reference)


def test_a_schedule_ahead_of_its_optimizer_is_warned_about():
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step\\(\\)` before `optimizer.step\\(\\)`"):
        schedule.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step()
        schedule.step()


def test_one_cycle_ends():
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.5, total_steps=3)
    optimizer.step()
    with pytest.raises(ValueError, match="Tried to step 4 times. The total number of steps is 3"):
        for _ in range(4):
            schedule.step()
