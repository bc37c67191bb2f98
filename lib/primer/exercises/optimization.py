"""Checks of the exercises of chapter 3: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from primer import optimization as opt
from primer.notebook import Mistake, exercise
from primer.notebook.answers import Answer, as_array, explain


@exercise("3.1")
def check_descent(descent: Answer) -> None:
    """Check ``descent(X, y, step, steps)``, the last weights of gradient descent from 0."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(6, 3)), rng.normal(size=6)

    def run(scale: float) -> np.ndarray:
        w = np.zeros(3)
        for _ in range(7):
            w = w - scale * 0.02 * X.T @ (X @ w - y)
        return w

    explain(
        as_array(descent(X, y, 0.02, 7), (3,)),
        opt.gradient_descent(X, y, 0.02, 7)[-1],
        {
            "the square's derivative has a factor 2, which is missing": run(1),
            "you walk uphill: subtract the gradient": run(-2),
            "you divided by n; here the loss is the sum of the squares, not their mean": run(2 / 6),
            "you took one step too few": opt.gradient_descent(X, y, 0.02, 6)[-1],
            "you took one step too many": opt.gradient_descent(X, y, 0.02, 8)[-1],
        },
    )


@exercise("3.2")
def check_steps(steps_to: Answer) -> None:
    """Check ``steps_to(tolerance, sigma, step)``, the number of steps of gradient descent."""
    for sigma, step in ((1.0, 0.1), (2.0, 0.2), (0.5, 3.0)):
        factor = 1 - 2 * step * sigma**2
        right = opt.steps_needed(factor, 1e-4)
        try:
            answer = steps_to(1e-4, sigma, step)
        except ValueError:
            if factor < 0:
                raise Mistake(
                    f"for σ = {sigma:g}, η = {step:g} the factor is {factor:.2g}: take its "
                    "modulus before the logarithm"
                ) from None
            raise
        if isinstance(answer, float) and math.isnan(answer):
            raise Mistake(f"NaN: the factor is {factor:.2g}; take its modulus before the logarithm")
        got = as_array(answer, ())
        plain = abs(1 - 2 * step * sigma)
        explain(
            got,
            right,
            {
                "round up: after that many steps the error is still too large": right - 1,
                "a number of steps is whole: round up": math.log(1e-4) / math.log(abs(factor)),
                "the singular value enters squared": (
                    opt.steps_needed(plain, 1e-4) if 0 < plain < 1 else math.inf
                ),
            },
        )


@exercise("3.3")
def check_adam(adam_step: Answer) -> None:
    """Check ``adam_step(w, g, m, v, t)``, one step of Adam with η = 0.1 and the usual constants."""
    w, g = np.array([1.0, -2.0, 0.5]), np.array([0.3, -4.0, 1e-6])
    m, v, t = np.array([0.1, -1.0, 0.0]), np.array([0.2, 3.0, 1e-14]), 3
    m1, v1 = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
    mean, square = m1 / (1 - 0.9**t), v1 / (1 - 0.999**t)

    def weights(answer: Any) -> np.ndarray:
        if not (isinstance(answer, tuple) and len(answer) == 3):
            raise Mistake("return three things: the new w, m and v")
        return np.stack([as_array(part, (3,)) for part in answer])

    right = np.stack([w - 0.1 * mean / (np.sqrt(square) + 1e-8), m1, v1])

    def instead(new: np.ndarray) -> np.ndarray:
        return np.stack([new, m1, v1])

    mistakes: dict[str, Any] = {
        "the bias correction is missing: divide m by 1 − β₁ᵗ and v by 1 − β₂ᵗ": instead(
            w - 0.1 * m1 / (np.sqrt(v1) + 1e-8)
        ),
        "the root is missing: divide by √v, not by v": instead(w - 0.1 * mean / (square + 1e-8)),
        "ε stands outside the root": instead(w - 0.1 * mean / np.sqrt(square + 1e-8)),
        "you walk uphill: subtract the step": instead(w + 0.1 * mean / (np.sqrt(square) + 1e-8)),
        "you divide the gradient itself; the running mean m belongs above": instead(
            w - 0.1 * g / (np.sqrt(square) + 1e-8)
        ),
        "return the plain running means; the corrected ones are used in the step only": np.stack(
            [right[0], mean, square]
        ),
    }
    explain(weights(adam_step(w, g, m, v, t)), right, mistakes)


@exercise("3.4")
def check_spectral(spectral_step: Answer) -> None:
    """Check ``spectral_step(G, radius)``, the best step in the spectral ball."""
    G = np.random.default_rng(4).normal(size=(4, 3))
    U, sigma, Vt = np.linalg.svd(G, full_matrices=False)
    explain(
        as_array(spectral_step(G, 0.5), (4, 3)),
        opt.steepest_step(G, 0.5, "spectral"),
        {
            "you walk uphill: the sign is missing": 0.5 * U @ Vt,
            "the radius is missing": -U @ Vt,
            "this is the step for the ℓ2 norm: all singular values must become equal": (
                opt.steepest_step(G, 0.5, "l2")
            ),
            "this is the step for the largest entry's norm, the sign": -0.5 * np.sign(G),
            "this puts all its length into one singular direction; the spectral norm lets every "
            "direction have it": -0.5 * np.outer(U[:, 0], Vt[0]),
            "NumPy's svd returns Vᵀ already; do not transpose it again": -0.5 * U @ Vt.T,
            "you divided by the largest singular value only: the others must become 1 too": (
                -0.5 * G / sigma[0]
            ),
        },
    )


@exercise("3.5")
def check_orthogonalize(orthogonalize: Answer) -> None:
    """Check ``orthogonalize(G, steps)``, Newton–Schulz with the smaller Gram matrix."""
    from torch.utils.flop_counter import FlopCounterMode

    G = 5 * torch.randn(24, 6, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    with FlopCounterMode(display=False) as counter:
        answer = orthogonalize(G, 25)
    if isinstance(answer, torch.Tensor) and not torch.isfinite(answer).all():
        raise Mistake("it diverged: divide G by its Frobenius norm first, so that every σ ≤ 1")
    explain(
        as_array(answer, (24, 6)),
        opt.newton_schulz(G, 25),
        {
            "only one step was taken": opt.newton_schulz(G, 1),
            "you only divided by the norm": opt.newton_schulz(G, 0),
        },
    )
    if counter.get_total_flops() > 1.2 * 25 * opt.step_cost(24, 6, "right"):
        raise Mistake(
            f"right, but with {counter.get_total_flops():,} operations where "
            f"{25 * opt.step_cost(24, 6, 'right'):,} suffice: G is tall, so form WᵀW, which is "
            "6 × 6, and multiply W by it"
        )


@exercise("3.6")
def check_clip(clip: Answer) -> None:
    """Check ``clip(gradients, limit)``, clipping by the norm of all gradients together."""
    first, second = np.array([1.0, 2.0]), np.array([[2.0, 4.0], [0.0, 0.0]])

    def answer(limit: float) -> np.ndarray:
        parts = clip([first.copy(), second.copy()], limit)
        if not (isinstance(parts, list | tuple) and len(parts) == 2):
            raise Mistake("return one clipped gradient for each gradient given")
        return np.concatenate([as_array(parts[0], (2,)), as_array(parts[1], (2, 2)).ravel()])

    whole = np.concatenate([first, second.ravel()])
    each = np.concatenate([opt.clip_by_norm(g, 1.0).ravel() for g in (first, second)])
    explain(
        answer(1.0),
        whole / 5,
        {
            "you clipped each gradient by itself, which changes the common direction": each,
            "you clipped entry by entry, which changes the direction": np.clip(whole, -1, 1),
            "the limit applies to the norm, not to its square": whole / 25,
        },
    )
    explain(
        answer(10.0), whole, {"a short gradient must stay as it is; you lengthened it": whole * 2}
    )


@exercise("3.7")
def check_transfer(rates: Answer) -> None:
    """Check ``rates(rate, base, width)``, Adam's rates in μP: input, hidden and output layer."""
    explain(
        as_array(rates(0.01, 64, 1024), (3,)),
        [0.01, 0.01 / 16, 0.01 / 16],
        {
            "the input layer has the same 64 pixels at every width: its rate stays": [0.01 / 16]
            * 3,
            "the root belongs to initial weights, whose signs are random; a step's terms all pull "
            "together, so its rate falls like 1/width": [0.01, 0.01 / 4, 0.01 / 4],
            "wider networks need smaller rates, not larger ones": [0.01, 0.16, 0.16],
            "the output layer adds up width many terms too: its rate falls as well": [
                0.01,
                0.01 / 16,
                0.01,
            ],
            "this is the standard parametrization: nothing follows the width": [0.01] * 3,
        },
    )


@exercise("3.8")
def check_noisy(largest_step: Answer) -> None:
    """Check ``largest_step(x, deviation)`` below which the noisy weight has a bounded variance."""
    for x, s in ((2.0, 0.5), (1.0, 2.0)):
        m = opt.input_moments(x, s)
        explain(
            as_array(largest_step(x, s), ()),
            opt.noisy_step_limits(x, s).mean_square,
            {
                "this is the limit of the mean (or you took (E Z²)² for E Z⁴); the mean square "
                "needs a smaller step": 2 / m.second,
                "this is the printed limit, which is neither that of the mean nor that of the mean "
                "square": 1 / m.second,
                "the fourth moment of a normal number is 3σ⁴, not σ⁴": 2
                * m.second
                / (x**4 + 6 * x**2 * s**2 + s**4),
                "the 2 is missing: 1 − 2ηEZ² + η²EZ⁴ must stay below 1": m.second / m.fourth,
            },
        )
