"""The optimizers."""

from mindtorch_v2.optim.optimizer import RuntimeOptimizer, refuse


class SGD(RuntimeOptimizer):
    """Stochastic gradient descent, optionally with momentum."""

    _core_name = "SGD"
    _option_names = frozenset({"lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize"})
    _shows_step = False

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        refuse(differentiable=differentiable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)


class _AdamBase(RuntimeOptimizer):
    _option_names = frozenset({"lr", "eps", "weight_decay", "amsgrad", "maximize"})

    def _start(self, params, lr, betas, eps, weight_decay, amsgrad, maximize, foreach, capturable, differentiable, fused):
        refuse(differentiable=differentiable, capturable=capturable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
        }
        RuntimeOptimizer.__init__(self, params, defaults)


class Adam(_AdamBase):
    """Adam; weight decay is part of the gradient."""

    _core_name = "Adam"

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        if decoupled_weight_decay:
            self._core_name = "AdamW"
        self._start(params, lr, betas, eps, weight_decay, amsgrad, maximize, foreach, capturable, differentiable, fused)


class AdamW(_AdamBase):
    """Adam with weight decay that is applied to the parameters directly."""

    _core_name = "AdamW"

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        self._start(params, lr, betas, eps, weight_decay, amsgrad, maximize, foreach, capturable, differentiable, fused)


class RMSprop(RuntimeOptimizer):
    """RMSprop."""

    _core_name = "RMSprop"
    _option_names = frozenset({"lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize"})

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        refuse(differentiable=differentiable, capturable=capturable)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)


class Adagrad(RuntimeOptimizer):
    """Adagrad."""

    _core_name = "Adagrad"
    _option_names = frozenset({"lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps", "maximize"})

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        refuse(differentiable=differentiable)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
