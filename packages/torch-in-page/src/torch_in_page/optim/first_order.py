"""Optimizers that follow the gradient: SGD, Adam and its relatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..tensor import Tensor, made
from .optimizer import Optimizer, at_least, counted, refused, zeros_of


class SGD(Optimizer):
    """Steps against the gradient, with momentum where it is asked for."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: Any = None,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None:
        at_least(
            [
                ("learning rate", lr),
                ("momentum value", momentum),
                ("weight_decay value", weight_decay),
            ]
        )
        refused("SGD", [("differentiable", differentiable)])
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, "foreach": foreach, "differentiable": False,
            "fused": fused,
        })  # fmt: skip

    def change(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any], state: Any
    ) -> None:
        """Change one parameter."""
        x, number = parameter._a, parameter._a.dtype.type
        d = -gradient if group["maximize"] else gradient
        if group["weight_decay"]:
            d = d + number(group["weight_decay"]) * x
        if group["momentum"]:
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = state["momentum_buffer"] = made(d.copy(), parameter._dtype)
            else:
                kept._a[...] = (
                    kept._a * number(group["momentum"]) + number(1 - group["dampening"]) * d
                )
            d = d + number(group["momentum"]) * kept._a if group["nesterov"] else kept._a
        x -= number(float(group["lr"])) * d


class Adam(Optimizer):
    """Steps against the mean gradient, divided by the root of the mean squared gradient."""

    decoupled = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: Any = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: Any = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        at_least(
            [("learning rate", lr), ("epsilon value", eps), ("weight_decay value", weight_decay)]
        )
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        refused(
            type(self).__name__, [("capturable", capturable), ("differentiable", differentiable)]
        )
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": False, "differentiable": False,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay or self.decoupled,
        })  # fmt: skip

    def change(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any], state: Any
    ) -> None:
        """Change one parameter."""
        x, number = parameter._a, parameter._a.dtype.type
        if "exp_avg" not in state:
            counted(state)
            state["step"]._a -= 1
            state["exp_avg"], state["exp_avg_sq"] = zeros_of(parameter), zeros_of(parameter)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_of(parameter)
        step = counted(state)
        d = -gradient if group["maximize"] else gradient
        lr, (beta1, beta2) = float(group["lr"]), group["betas"]
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                x *= number(1 - lr * group["weight_decay"])
            else:
                d = d + number(group["weight_decay"]) * x
        mean, square = state["exp_avg"]._a, state["exp_avg_sq"]._a
        mean += number(1 - beta1) * (d - mean)
        square *= number(beta2)
        square += number(1 - beta2) * d * d
        if group["amsgrad"]:
            square = np.maximum(state["max_exp_avg_sq"]._a, square, out=state["max_exp_avg_sq"]._a)
        bias1, bias2 = 1 - beta1**step, 1 - beta2**step
        spread = np.sqrt(square) / number(math.sqrt(bias2)) + number(group["eps"])
        x -= number(lr / bias1) * (mean / spread)


class AdamW(Adam):
    """Adam, with weights that shrink by themselves."""

    decoupled = True

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **named: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **named)


class RMSprop(Optimizer):
    """Steps against the gradient, divided by the root of the mean squared gradient."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: Any = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        at_least([("learning rate", lr), ("epsilon value", eps), ("alpha value", alpha)])
        refused("RMSprop", [("capturable", capturable), ("differentiable", differentiable)])
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": False,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": False,
            },
        )

    def change(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any], state: Any
    ) -> None:
        """Change one parameter."""
        x, number = parameter._a, parameter._a.dtype.type
        if "square_avg" not in state:
            state["square_avg"] = zeros_of(parameter)
            if group["momentum"]:
                state["momentum_buffer"] = zeros_of(parameter)
            if group["centered"]:
                state["grad_avg"] = zeros_of(parameter)
        counted(state)
        d = -gradient if group["maximize"] else gradient
        if group["weight_decay"]:
            d = d + number(group["weight_decay"]) * x
        square, alpha = state["square_avg"]._a, group["alpha"]
        square *= number(alpha)
        square += number(1 - alpha) * d * d
        spread = square
        if group["centered"]:
            mean = state["grad_avg"]._a
            mean += number(1 - alpha) * (d - mean)
            spread = square - mean * mean
        move = d / (np.sqrt(spread) + number(group["eps"]))
        if group["momentum"]:
            kept = state["momentum_buffer"]._a
            kept[...] = kept * number(group["momentum"]) + move
            move = kept
        x -= number(float(group["lr"])) * move


class Adagrad(Optimizer):
    """Steps against the gradient, divided by the root of the sum of squared gradients."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: Any = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: Any = None,
    ) -> None:
        at_least([("learning rate", lr), ("epsilon value", eps)])
        refused("Adagrad", [("differentiable", differentiable)])
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
            "maximize": maximize, "differentiable": False, "fused": fused,
        })  # fmt: skip

    def change(
        self, parameter: Tensor, gradient: np.ndarray, group: dict[str, Any], state: Any
    ) -> None:
        """Change one parameter."""
        x, number = parameter._a, parameter._a.dtype.type
        if "sum" not in state:
            state["sum"] = zeros_of(parameter)
            state["sum"]._a[...] = group["initial_accumulator_value"]
        step = counted(state)
        d = -gradient if group["maximize"] else gradient
        if group["weight_decay"]:
            d = d + number(group["weight_decay"]) * x
        total = state["sum"]._a
        total += d * d
        lr = float(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        x -= number(lr) * (d / (np.sqrt(total) + number(group["eps"])))
