"""Checks of the exercises of chapter 3: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from primer import optimization as opt
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, explain
from primer.notebook.wording import short

_PARTS = {2: "a hundredth", 3: "a thousandth", 4: "a ten-thousandth", 6: "a millionth"}


@varied(least=(2, 3, 4, 5), root=(3, 4, 5, 6, 7, 8), digits=tuple(_PARTS))
def check_predict(least: int = 2, root: int = 5, digits: int = 3) -> NumberExercise:
    """Ask for the steps of gradient descent at a condition number that is a square."""
    condition = root**2
    most, part = least * condition, 10**digits
    up, down = condition + 1, condition - 1
    written = str(part) if part < 10_000 else f"{part:,}"

    def steps(factor: float) -> float:
        return math.log(part) / -math.log(factor)

    exact = steps(down / up)
    right = math.ceil(exact)
    return NumberExercise(
        "3.1",
        question=f"The curvatures of a quadratic loss lie between {least} and {most}. You run "
        "gradient descent with the best constant step. After how many steps is the error below "
        f"{_PARTS[digits]} of its start, whatever the start?",
        right=right,
        within=0.4,
        low=1,
        high=100_000,
        expects="a whole number of steps",
        wrong={
            right - 1: f"after {right - 1} steps the error is still "
            f"{short((down / up) ** (right - 1))} of its start: round up",
            right + 1: f"{right + 1} steps are enough, but {right} are too: after {right} the "
            f"error is {short((down / up) ** right, 2)} of its start",
            math.ceil(exact / 2): "you took the factor twice per step; the error, not its square, "
            f"is multiplied by {down}/{up}",
            math.ceil(steps(down / condition)): f"the factor is (κ−1)/(κ+1) = {down}/{up}, not "
            f"(κ−1)/κ = {down}/{condition}: the best step makes both ends equally slow",
            math.ceil(steps((root - 1) / (root + 1))): "that is the rate of momentum, "
            f"(√κ−1)/(√κ+1) = {root - 1}/{root + 1}; gradient descent has no root",
            math.ceil(steps((most - 1) / (most + 1))): f"κ is {most}/{least} = {condition} "
            f"already; with κ = {most} the factor would be {most - 1}/{most + 1}",
        },
        otherwise=f"κ = {condition}, the factor is {down}/{up} ≈ {down / up:.3f}, and "
        f"{down / up:.3f} to which power is 1/{written}?",
        because=f"ln(1/{written}) / ln({down}/{up}) = {exact:.1f}.",
    )


check_square = ChoiceExercise(
    "3.3",
    choices={
        "a": "It diverges.",
        "b": "It converges to the solution Σ⁻¹y, only at another rate.",
        "c": "It converges to y.",
        "d": "It converges to 0.",
    },
    right="c",
    replies={
        "a": "the factors are 1 − 2ησ, which lie between 0 and 1 for a small η: it converges",
        "b": "put w = Σ⁻¹y = (2, 2) into the iteration, with y = (6, 1): it moves on, because "
        "2ηΣ(y − w) = 2η(12, −0.5) is not 0",
        "c": "At rest 2ηΣw = 2ηΣy, so w = y = (6, 1) instead of (2, 2). A wrong gradient converges "
        "as happily as a right one.",
        "d": "put w = 0 into the iteration: the next weight is 2ηΣy, which is not 0",
    },
)

check_diagnose = ChoiceExercise(
    "3.4",
    choices={
        "a": "Twice the step size.",
        "b": "Momentum with β = 0.9 at the same step.",
        "c": "The average of the weights from now on.",
        "d": "A new start from better weights.",
    },
    right="c",
    replies={
        "a": "the floor is η/(1−η) times s²/|B|: twice the step doubles it, or more",
        "b": "at the same η momentum takes steps about 1/(1−β) = 10 times as long in the long run, "
        "and the floor rises about tenfold",
        "c": "A level that is four times lower with four times the batch is the noise floor, and "
        "the average of 500 late weights lies about ten times below it at η = 0.02.",
        "d": "a floor does not remember the start: with η = 0.2 the factor 1−2η = 0.6 has "
        "forgotten it after some ten steps",
    },
)

check_penalty = ChoiceExercise(
    "3.6",
    choices={
        "a": "The given one, −αg/2.",
        "b": "The given one, but with another factor in front of g.",
        "c": "None, or the step 0, depending on the length of g.",
        "d": "−η sign(g).",
    },
    right="c",
    replies={
        "a": "take α = 1 and g of length 2: at −g/2 the value is −1, at −g it is −2, and it goes "
        "on falling",
        "b": "along −g the value is ‖Δ‖(1/α − ‖g‖), a straight line in the length: it has no "
        "lowest point inside, whatever the factor",
        "c": "Twice the step has twice the value, so the best length is 0 or there is none. The "
        "given step belongs to the squared norm.",
        "d": "that direction belongs to the ruler ℓ∞, in which every coordinate may move by η; "
        "here the length is ‖Δ‖₂, and no η limits it",
    },
)


@exercise("3.2")
def check_steps(steps_to: Answer) -> None:
    """Check ``steps_to(tolerance, sigma, step)``, the number of steps of gradient descent."""
    rng = np.random.default_rng(32)
    drawn = [
        (10.0 ** -rng.uniform(1, 6), sigma, float(rng.choice([0.2, 0.9]) / sigma**2))
        for sigma in rng.uniform(0.3, 3, 6)
    ]
    for tolerance, sigma, step in [(1e-4, 1.0, 0.1), (1e-4, 2.0, 0.2), (0.25, 1.0, 0.25), *drawn]:
        factor = 1 - 2 * step * sigma**2
        right = opt.steps_needed(factor, tolerance)
        place = f"for tolerance {tolerance:.2g}, σ = {sigma:.2g}, η = {step:.2g}"
        try:
            answer = steps_to(tolerance, sigma, step)
        except ValueError:
            if factor < 0:
                raise Mistake(
                    f"{place} the factor is {factor:.2g}: take its modulus before the logarithm"
                ) from None
            raise
        if isinstance(answer, float) and math.isnan(answer):
            raise Mistake(f"NaN: the factor is {factor:.2g}; take its modulus before the logarithm")
        got = as_array(answer, ())
        plain = abs(1 - 2 * step * sigma)
        quotient = math.log(tolerance) / math.log(abs(factor))
        if quotient == right - 1 and got == quotient:
            raise Mistake(
                f"{place} the error is exactly {tolerance:g} after {right - 1} steps, which is not "
                "below: where the quotient is whole, one step more is needed"
            )
        mistakes = {
            f"{place}, round up: after that many steps the error is still too large": right - 1,
            "a number of steps is whole: round up": quotient,
        }
        if 0 < plain < 1:
            mistakes["the singular value enters squared"] = opt.steps_needed(plain, tolerance)
        mistakes["the derivative of the square brings a 2: the factor is 1 − 2ησ²"] = (
            opt.steps_needed(1 - step * sigma**2, tolerance)
        )
        if factor < 0:
            mistakes["an error that has changed sides is negative: compare its modulus"] = 1
        explain(got, right, mistakes, f"{place} the result is {got:g}, but {right} is right")


@exercise("3.5")
def check_orthogonalize(orthogonalize: Answer) -> None:
    """Check ``orthogonalize(G, steps)``, Newton–Schulz with the smaller Gram matrix."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    drawing = torch.Generator().manual_seed(5)
    for (rows, columns), steps in (((24, 6), 25), ((5, 30), 25), ((24, 6), 3)):
        G = 5 * torch.randn(rows, columns, generator=drawing, dtype=torch.float64)
        with FlopCounterMode(display=False) as counter:
            answer = orthogonalize(G.clone(), steps)
        got = as_array(answer, (rows, columns), allow_nan=True)
        if not np.isfinite(got).all():
            raise Mistake("it diverged: divide G by its Frobenius norm first, so that every σ ≤ 1")
        explain(
            got,
            opt.newton_schulz(G, steps),
            {
                "only one step was taken": opt.newton_schulz(G, 1),
                "you only divided by the norm": opt.newton_schulz(G, 0),
                "this is UVᵀ itself; after 3 steps the singular values are not yet 1": (
                    opt.newton_schulz(G, 60)
                ),
            },
        )
        if counter.get_total_flops() == 0:
            raise Mistake(
                "the check counts the products of torch and saw none: compute with torch, not with "
                "NumPy or lists"
            )
        side: Literal["left", "right"] = "right" if rows > columns else "left"
        if counter.get_total_flops() > 1.2 * steps * opt.step_cost(rows, columns, side):
            word, gram = ("tall", "WᵀW") if side == "right" else ("wide", "WWᵀ")
            small = min(rows, columns)
            raise Mistake(
                f"right, but with {counter.get_total_flops():,} operations where "
                f"{steps * opt.step_cost(rows, columns, side):,} suffice: G is {word}, so form "
                f"{gram}, which is {small} × {small}, and multiply W by it"
            )


@exercise("3.7")
def check_noisy(largest_step: Answer) -> None:
    """Check ``largest_step(x, deviation)`` below which the noisy weight has a bounded variance."""
    drawn = np.random.default_rng(37).uniform(0.3, 3, (4, 2)).tolist()
    for x, s in ((2.0, 0.5), (1.0, 2.0), *drawn):
        m = opt.input_moments(x, s)
        explain(
            as_array(largest_step(x, s), ()),
            opt.noisy_step_limits(x, s).mean_square,
            {
                "this is the limit of the mean (or you took (E Z²)² for E Z⁴); the mean square "
                "needs a smaller step": 2 / m.second,
                "this is the limit of the text, which is neither that of the mean nor that of the "
                "mean square": 1 / m.second,
                "the fourth moment of a normal number is 3s⁴, not s⁴": 2
                * m.second
                / (x**4 + 6 * x**2 * s**2 + s**4),
                "6x²s² is missing: (x+N)⁴ has six products with two N": 2
                * m.second
                / (x**4 + 3 * s**4),
                "deviation is s, the root of the variance s²; it was taken for the variance": 2
                * (x**2 + s)
                / (x**4 + 6 * x**2 * s + 3 * s**2),
                "the 2 is missing: 1 − 2ηEZ² + η²EZ⁴ must stay below 1": m.second / m.fourth,
            },
        )


@exercise("3.8")
def check_transfer(rates: Answer) -> None:
    """Check ``rates(rate, base, width)``, Adam's rates in μP: input, hidden and output layer."""
    rng = np.random.default_rng(38)
    drawn = [
        (
            float(10 ** -rng.uniform(1, 4)),
            int(2 ** rng.integers(4, 7)),
            int(2 ** rng.integers(7, 11)),
        )
        for _ in range(4)
    ]
    for rate, base, width in ((0.01, 64, 1024), *drawn):
        part = base / width
        explain(
            as_array(rates(rate, base, width), (3,)),
            [rate, rate * part, rate * part],
            {
                "the input layer has the same 64 pixels at every width: its rate stays": [
                    rate * part
                ]
                * 3,
                "the root belongs to initial weights, whose signs are random; a step's terms all "
                "pull together, so its rate falls like 1/width": [
                    rate,
                    rate * part**0.5,
                    rate * part**0.5,
                ],
                "wider networks need smaller rates, not larger ones": [
                    rate,
                    rate / part,
                    rate / part,
                ],
                "the output layer adds up width many terms too: its rate falls as well": [
                    rate,
                    rate * part,
                    rate,
                ],
                "the rates are right, but in another order: input, hidden, output": [
                    rate * part,
                    rate * part,
                    rate,
                ],
                "the hidden layers read from a hidden layer as well: their rate falls too": [
                    rate,
                    rate,
                    rate * part,
                ],
                "this is the standard parametrization: nothing follows the width": [rate] * 3,
            },
        )
