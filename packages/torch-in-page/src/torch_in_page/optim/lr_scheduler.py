"""``torch.optim.lr_scheduler``: learning rates that follow a plan."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from typing import Any

from ..tensor import unknown
from .optimizer import Optimizer


class LRScheduler:
    """The base of plans: subclasses say the rates at ``last_epoch``."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if last_epoch == -1:
            for group in optimizer.param_groups:
                group.setdefault("initial_lr", group["lr"])
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self.step()

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """Return the rates that are set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Set the next rates."""
        if epoch is not None:
            raise NotImplementedError(
                "torch in this page has no step(epoch); call step() so many times"
            )
        self._step_count += 1
        self.last_epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = lr
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return all but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what was returned before."""
        self.__dict__.update(state_dict)

    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]


_LRScheduler = LRScheduler


class LambdaLR(LRScheduler):
    """The first rate times a function of the step."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        many = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas = list(lr_lambda) if many else [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        return [
            base * function(self.last_epoch)
            for base, function in zip(self.base_lrs, self.lr_lambdas, strict=True)
        ]


class MultiplicativeLR(LambdaLR):
    """The last rate times a function of the step."""

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        if self.last_epoch == 0:
            return self._rates()
        return [r * f(self.last_epoch) for r, f in zip(self._rates(), self.lr_lambdas, strict=True)]


class StepLR(LRScheduler):
    """A rate that falls by a factor every so many steps."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]


class MultiStepLR(LRScheduler):
    """A rate that falls by a factor at some steps."""

    def __init__(
        self, optimizer: Optimizer, milestones: Any, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates()]


class ExponentialLR(LRScheduler):
    """A rate that falls by a factor at every step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        return [rate * self.gamma if self.last_epoch else rate for rate in self._rates()]


class ConstantLR(LRScheduler):
    """A share of the rate for some steps, then all of it."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        share = self.factor if self.last_epoch < self.total_iters else 1.0
        return [base * share for base in self.base_lrs]


class LinearLR(LRScheduler):
    """A share of the rate that grows, or falls, on a line."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        done = min(self.last_epoch, self.total_iters) / self.total_iters
        share = self.start_factor + (self.end_factor - self.start_factor) * done
        return [base * share for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """A rate that falls to 0 by a power."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        left = 1 - min(self.last_epoch, self.total_iters) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """A rate that falls on half a wave, step by step as torch does."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        if self.last_epoch == 0:
            return self._rates()
        n, low = self.T_max, self.eta_min
        if (self.last_epoch - 1 - n) % (2 * n) == 0:
            half = (1 - math.cos(math.pi / n)) / 2
            return [
                rate + (base - low) * half
                for rate, base in zip(self._rates(), self.base_lrs, strict=True)
            ]
        turn = (1 + math.cos(math.pi * self.last_epoch / n)) / (
            1 + math.cos(math.pi * (self.last_epoch - 1) / n)
        )
        return [turn * (rate - low) + low for rate in self._rates()]


class CosineAnnealingWarmRestarts(LRScheduler):
    """A rate that falls on half a wave and jumps up again."""

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        at, n = self.last_epoch, self.T_0
        while at >= n:
            at, n = at - n, n * self.T_mult
        return [
            self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * at / n)) / 2
            for base in self.base_lrs
        ]


class OneCycleLR(LRScheduler):
    """A rate that rises to a height and falls below where it began."""

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError(
                    "You must define either total_steps OR (epochs AND steps_per_epoch)"
                )
            total_steps = epochs * steps_per_epoch
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if three_phase:
            raise NotImplementedError("torch in this page has no three_phase= for OneCycleLR")
        self.total_steps, self.anneal_strategy = total_steps, anneal_strategy
        self.turn = float(pct_start * total_steps) - 1
        heights = (
            max_lr if isinstance(max_lr, (list, tuple)) else [max_lr] * len(optimizer.param_groups)
        )
        self.cycle_momentum = cycle_momentum
        self._momenta = (base_momentum, max_momentum)
        for group, height in zip(optimizer.param_groups, heights, strict=True):
            group["initial_lr"] = height / div_factor
            group["max_lr"], group["min_lr"] = height, height / div_factor / final_div_factor
            if cycle_momentum:
                if "momentum" not in group and "betas" not in group:
                    raise ValueError(
                        "optimizer must support momentum or beta1 with `cycle_momentum` option "
                        "enabled"
                    )
                self._momentum(group, max_momentum)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _momentum(group: dict[str, Any], value: float) -> None:
        if "betas" in group:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value

    def _between(self, a: float, b: float, share: float) -> float:
        if self.anneal_strategy == "linear":
            return (b - a) * share + a
        return b + (a - b) / 2.0 * (math.cos(math.pi * share) + 1)

    def get_lr(self) -> list[float]:
        """Return the rates at ``last_epoch``."""
        at = self.last_epoch
        if at > self.total_steps:
            raise ValueError(
                f"Tried to step {at} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        rates = []
        low, high = self._momenta
        for group in self.optimizer.param_groups:
            if at <= self.turn:
                share = at / self.turn
                rates.append(self._between(group["initial_lr"], group["max_lr"], share))
                momentum = self._between(high, low, share)
            else:
                share = (at - self.turn) / (self.total_steps - 1 - self.turn)
                rates.append(self._between(group["max_lr"], group["min_lr"], share))
                momentum = self._between(low, high, share)
            if self.cycle_momentum:
                self._momentum(group, momentum)
        return rates


class SequentialLR:
    """Plans one after the other."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: list[Any],
        milestones: list[int],
        last_epoch: int = -1,
    ) -> None:
        self.optimizer, self._schedulers, self._milestones = optimizer, schedulers, milestones
        self.last_epoch = last_epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for scheduler in schedulers:
            scheduler.last_epoch -= 1
        schedulers[0].step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self) -> None:
        """Set the next rates."""
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            for group, base in zip(self.optimizer.param_groups, scheduler.base_lrs, strict=True):
                group["lr"] = base
            scheduler.last_epoch = -1
        scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def get_last_lr(self) -> list[float]:
        """Return the rates that are set."""
        return self._last_lr


class ReduceLROnPlateau:
    """A rate that falls by a factor when a number no longer gets better."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        eps: float = 1e-8,
    ) -> None:
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown = threshold, threshold_mode, cooldown
        self.min_lr, self.eps = min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def _better(self, number: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        share = self.threshold * abs(self.best) if self.threshold_mode == "rel" else self.threshold
        return number < self.best - share if sign == 1 else number > self.best + share

    def step(self, metrics: Any) -> None:
        """Tell how good it is now."""
        number = float(metrics)
        self.last_epoch += 1
        if math.isinf(self.best) or self._better(number):
            self.best, self.num_bad_epochs = number, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group in self.optimizer.param_groups:
                new = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - new > self.eps:
                    group["lr"] = new
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def get_last_lr(self) -> list[float]:
        """Return the rates that are set."""
        return [group["lr"] for group in self.optimizer.param_groups]


__getattr__ = unknown("torch.optim.lr_scheduler")
