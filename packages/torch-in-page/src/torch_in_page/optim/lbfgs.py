"""LBFGS: steps by an estimate of the inverse Hessian from the last steps and gradients.

J. Nocedal and S. Wright, Numerical Optimization (2006), algorithm 7.4 and, for "strong_wolfe",
algorithms 3.5 and 3.6; order of the tests and interpolation as in torch, so that the same steps
come out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engine import enable_grad, no_grad
from .optimizer import Optimizer, at_least

Evaluation = Callable[[np.ndarray, float, np.ndarray], tuple[float, np.ndarray]]


class LBFGS(Optimizer):
    """Steps by an estimate of the inverse Hessian; ``step`` needs a function of the loss."""

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        at_least([("learning rate", lr)])
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        super().__init__(
            params,
            {
                "lr": lr,
                "max_iter": max_iter,
                "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
                "tolerance_grad": tolerance_grad,
                "tolerance_change": tolerance_change,
                "history_size": history_size,
                "line_search_fn": line_search_fn,
            },
        )
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    # ------------------------------------------------------------ parameters as one vector

    def _gradient(self) -> np.ndarray:
        flat = [
            np.zeros(p.numel(), p._a.dtype) if p.grad is None else p.grad._a.reshape(-1)
            for p in self._params
        ]
        return np.concatenate(flat)

    def _place(self) -> np.ndarray:
        return np.concatenate([p._a.reshape(-1) for p in self._params])

    def _go(self, place: np.ndarray) -> None:
        at = 0
        for parameter in self._params:
            n = parameter.numel()
            parameter._a[...] = place[at : at + n].reshape(parameter.shape)
            parameter._version[0] += 1
            at += n

    # ------------------------------------------------------------ steps

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take up to ``max_iter`` steps."""
        if closure is None:
            raise TypeError(
                "LBFGS.step() needs a closure that computes the loss and its gradient anew"
            )
        group, state = self.param_groups[0], self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluated() -> float:
            with enable_grad():
                return float(closure())

        with no_grad(), enable_grad():
            first = closure()
        loss = float(first)
        evals = 1
        state["func_evals"] += 1
        gradient = self._gradient()
        if np.abs(gradient).max() <= group["tolerance_grad"]:
            return first
        d, t = state.get("d"), state.get("t")
        steps, slopes = state.get("old_stps", []), state.get("old_dirs", [])
        curvature = state.get("ro", [])
        scale, before = state.get("H_diag", 1.0), state.get("prev_flat_grad")
        n = 0
        while n < group["max_iter"]:
            n += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d, scale = -gradient, 1.0
                steps, slopes, curvature = [], [], []
            else:
                y, s = gradient - before, d * d.dtype.type(t)
                ys = float(y @ s)
                if ys > 1e-10:
                    if len(slopes) == group["history_size"]:
                        slopes.pop(0), steps.pop(0), curvature.pop(0)
                    slopes.append(y)
                    steps.append(s)
                    curvature.append(1.0 / ys)
                    scale = ys / float(y @ y)
                d = self._direction(gradient, steps, slopes, curvature, scale)
            before, last = gradient.copy(), loss
            lr = group["lr"]
            t = min(1.0, 1.0 / float(np.abs(gradient).sum())) * lr if state["n_iter"] == 1 else lr
            slope = float(gradient @ d)
            if slope > -group["tolerance_change"]:
                break
            tried = 0
            start = self._place()
            if group["line_search_fn"] == "strong_wolfe":

                def at(x: np.ndarray, t: float, d: np.ndarray) -> tuple[float, np.ndarray]:
                    self._go(x + x.dtype.type(t) * d)
                    value = evaluated()
                    found = self._gradient()
                    self._go(x)
                    return value, found

                loss, gradient, t, tried = strong_wolfe(at, start, t, d, loss, gradient, slope)
                self._go(start + start.dtype.type(t) * d)
                done = np.abs(gradient).max() <= group["tolerance_grad"]
            else:
                self._go(start + start.dtype.type(t) * d)
                done = False
                if n != group["max_iter"]:
                    loss = evaluated()
                    gradient = self._gradient()
                    done = np.abs(gradient).max() <= group["tolerance_grad"]
                    tried = 1
            evals += tried
            state["func_evals"] += tried
            if n == group["max_iter"] or evals >= group["max_eval"] or done:
                break
            if np.abs(d * t).max() <= group["tolerance_change"]:
                break
            if abs(loss - last) < group["tolerance_change"]:
                break
        state.update({"d": d, "t": t, "old_dirs": slopes, "old_stps": steps, "ro": curvature,
                      "H_diag": scale, "prev_flat_grad": before})  # fmt: skip
        return first

    @staticmethod
    def _direction(
        gradient: np.ndarray,
        steps: list[Any],
        slopes: list[Any],
        curvature: list[float],
        scale: float,
    ) -> np.ndarray:
        """Return the estimate of the inverse Hessian times the gradient, downhill: two loops."""
        number = gradient.dtype.type
        q, shares = -gradient, [0.0] * len(steps)
        for i in range(len(steps) - 1, -1, -1):
            shares[i] = float(steps[i] @ q) * curvature[i]
            q = q - number(shares[i]) * slopes[i]
        r = q * number(scale)
        for i, (s, y) in enumerate(zip(steps, slopes, strict=True)):
            r = r + number(shares[i] - float(y @ r) * curvature[i]) * s
        return r


def cubic(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: Any = None
) -> float:
    """Return where the cubic through two points with given slopes is lowest, between bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0 or math.isnan(square):
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    if x1 <= x2:
        place = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        place = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(place, low), high)


def strong_wolfe(
    at: Evaluation,
    x: np.ndarray,
    t: float,
    d: np.ndarray,
    f: float,
    g: np.ndarray,
    slope: float,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance: float = 1e-9,
    most: int = 25,
) -> tuple[float, np.ndarray, float, int]:
    """Return value, gradient and length of a step that lowers value and slope enough."""
    d_norm = float(np.abs(d).max())
    new, g_new = at(x, t, d)
    evals = 1
    slope_new = float(g_new @ d)
    t_before, f_before, g_before, slope_before = 0.0, f, g, slope
    done, rounds = False, 0
    bracket: list[float] = []
    while rounds < most:
        if new > (f + c1 * t * slope) or (rounds > 1 and new >= f_before):
            bracket, values, grads, slopes = (
                [t_before, t],
                [f_before, new],
                [g_before, g_new],
                [slope_before, slope_new],
            )
            break
        if abs(slope_new) <= -c2 * slope:
            bracket, values, grads, slopes, done = [t], [new], [g_new], [slope_new], True
            break
        if slope_new >= 0:
            bracket, values, grads, slopes = (
                [t_before, t],
                [f_before, new],
                [g_before, g_new],
                [slope_before, slope_new],
            )
            break
        low, high = t + 0.01 * (t - t_before), t * 10
        last = t
        t = cubic(t_before, f_before, slope_before, t, new, slope_new, (low, high))
        t_before, f_before, g_before, slope_before = last, new, g_new, slope_new
        new, g_new = at(x, t, d)
        evals += 1
        slope_new = float(g_new @ d)
        rounds += 1
    if rounds == most:
        bracket, values, grads, slopes = [0.0, t], [f, new], [g, g_new], [slope, slope_new]
    stuck = False
    a, b = (0, 1) if len(bracket) == 1 or values[0] <= values[-1] else (1, 0)
    while not done and rounds < most:
        if abs(bracket[1] - bracket[0]) * d_norm < tolerance:
            break
        t = cubic(bracket[0], values[0], slopes[0], bracket[1], values[1], slopes[1])
        edge = 0.1 * (max(bracket) - min(bracket))
        if min(max(bracket) - t, t - min(bracket)) < edge:
            if stuck or t >= max(bracket) or t <= min(bracket):
                nearer_top = abs(t - max(bracket)) < abs(t - min(bracket))
                t = max(bracket) - edge if nearer_top else min(bracket) + edge
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        new, g_new = at(x, t, d)
        evals += 1
        slope_new = float(g_new @ d)
        rounds += 1
        if new > (f + c1 * t * slope) or new >= values[a]:
            bracket[b], values[b], grads[b], slopes[b] = t, new, g_new, slope_new
            a, b = (0, 1) if values[0] <= values[1] else (1, 0)
        else:
            if abs(slope_new) <= -c2 * slope:
                done = True
            elif slope_new * (bracket[b] - bracket[a]) >= 0:
                bracket[b], values[b], grads[b], slopes[b] = (
                    bracket[a],
                    values[a],
                    grads[a],
                    slopes[a],
                )
            bracket[a], values[a], grads[a], slopes[a] = t, new, g_new, slope_new
    a = a if len(bracket) > 1 else 0
    return values[a], grads[a], bracket[a], evals
