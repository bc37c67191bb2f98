"""Checks for the exercises of the chapter *Recurrent networks*: each names the mistake it sees."""

from __future__ import annotations

import itertools
import math
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn

from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, as_number, explain


@varied(tenths=range(10, 41))
def check_half_life(tenths: int = 20) -> NumberExercise:
    """Ask for the half-life of what a gate with this bias, in tenths, keeps."""
    bias = tenths / 10
    gate = 1 / (1 + math.exp(-bias))
    kept = -math.log(gate)
    right, more, less = (
        math.log(2) / math.log1p(math.exp(-other)) for other in (bias, bias + 1, bias - 1)
    )
    return NumberExercise(
        "6.1",
        question=f"A forget gate sees nothing but its bias, {bias:g}. After how many steps is half "
        "of a stored number left? To one decimal.",
        right=right,
        within=0.05,
        low=0,
        high=1000,
        expects="a number of steps to one decimal",
        wrong={
            math.log(2) / bias: "that is the logarithm of 2 divided by the bias: the gate is "
            f"σ({bias:g}) ≈ {gate:.2f}, not e^−{bias:g}",
            less: f"that is the half-life for a bias of {bias - 1:g}",
            math.log(2) / (1 - gate): "ln 2/(1 − σ) is an approximation for gates near 1; divide "
            "ln 2 by −ln σ",
            1 / kept: "after −1/ln σ steps 1/e is left, not a half: multiply by ln 2",
            1 / (1 - gate): "after 1/(1 − σ) steps about 1/e is left, not a half: solve σ^n = ½",
            round(more): f"that is the half-life for a bias of {bias + 1:g}",
            more: f"that is the half-life for a bias of {bias + 1:g}",
        },
        otherwise=f"solve σ({bias:g})^n = ½ for n, with σ({bias:g}) = 1/(1 + e^−{bias:g}) ≈ "
        f"{gate:.3f}",
        because=f"{gate:.3f}^{right:.2f} is a half.",
    )


@varied(turns=(5, 8, 16, 20, 25, 40, 50), shear=(5, 8, 10, 20))
def check_hump(turns: int = 20, shear: int = 10) -> NumberExercise:
    """Ask which power of a matrix with the double eigenvalue 1 − 1/turns is largest."""
    top = 1 - 1 / turns

    def peak(eigenvalue: float) -> float:
        return -1 / math.log(eigenvalue)

    def norm(k: int) -> float:
        diagonal, outside = top**k, shear * k * top ** (k - 1)
        return (outside + math.hypot(outside, 2 * diagonal)) / 2

    below = next(k for k in itertools.count(turns) if norm(k) < 1)
    whole = f"{turns - 1} and {turns}"
    return NumberExercise(
        "6.3",
        question=f"For the matrix with the rows ({top:g}, {shear}) and (0, {top:g}): at which "
        "power k is the norm largest? Predict it before you compute it.",
        right=peak(top),
        within=0.6,
        low=0,
        high=1000,
        expects="a whole number of steps",
        wrong={
            1: "that would be so if the eigenvalue decided at once; but the entry "
            f"outside the diagonal is {shear}·k·{top:g}^(k−1), which grows as long as k wins",
            peak(0.9): "that is the top for an eigenvalue of 0.9",
            below: "there the norm is below 1 again; the question is where it is largest",
        },
        otherwise=f"k·λ^(k−1) is largest near k = −1/ln λ; for λ = {top:g} that is {peak(top):.1f}",
        because=f"−1/ln {top:g} = {peak(top):.1f}, and powers are whole: {whole} are almost equal.",
    )


check_diagnose = ChoiceExercise(
    "6.5",
    choices={
        "a": "The gradient vanishes: it cannot learn long strings.",
        "b": "The context vector is a bottleneck.",
        "c": "Exposure bias: one mistake leads to others.",
        "d": "It has learned the training strings by heart.",
    },
    right="c",
    replies={
        "a": "under teacher forcing 95 % are right at length 20 as at length 5: long strings were "
        "learned as well as short ones",
        "b": "a vector that holds too little would spoil letters under teacher forcing, too; "
        "there as many are right at every length",
        "c": "The weights are the same; what differs is what the decoder reads after its first "
        "mistake. Until then both ways to run it agree, so whole strings are equally often right.",
        "d": "then teacher forcing would be poor on new strings as well, not only free writing",
    },
)


def _lstm(weights: dict[str, Tensor], x: Tensor, h: Tensor, c: Tensor, **wrong: Any) -> Tensor:
    """Take torch's step, or one with a mistake in it."""
    order = wrong.get("order", "ifgo")
    biases = weights["bias_ih"] + (0 if wrong.get("one_bias") else weights["bias_hh"])
    z = weights["weight_ih"] @ x + weights["weight_hh"] @ (c if wrong.get("peep") else h) + biases
    part = dict(zip(order, z.chunk(4), strict=True))
    c = part["f"].sigmoid() * c + part["i"].sigmoid() * part["g"].tanh()
    return torch.stack([part["o"].sigmoid() * (c if wrong.get("bare") else c.tanh()), c])


def _two_vectors(value: Any) -> tuple[np.ndarray, np.ndarray]:
    """Read the new h and the new c, two things or the two rows of one."""
    rows = isinstance(value, np.ndarray | Tensor) and value.ndim == 2
    if not (rows or isinstance(value, tuple | list)) or len(value) != 2:
        raise Mistake("return two vectors, the new h and the new c")
    return as_array(value[0], (4,), "h"), as_array(value[1], (4,), "c")


@exercise("6.2")
def check_step(answer: Answer) -> None:
    """Check ``answer(weights, x, h, c)``: one step of torch's LSTM."""
    for seed in range(2):
        torch.manual_seed(seed)
        cell = nn.LSTMCell(3, 4).double()
        weights = {name: 2 * weight.detach() for name, weight in cell.state_dict().items()}
        x, h, c = (torch.randn(size, dtype=torch.float64) for size in (3, 4, 4))
        kept = {name: weight.clone() for name, weight in weights.items()}
        new_h, new_c = _two_vectors(answer(kept, x.clone(), h.clone(), c.clone()))
        mistakes: dict[str, dict[str, Any]] = {
            "the gates are in another order: torch's is input, forget, candidate, output": {
                "order": "figo"
            },
            "the rows are in another order than in lstm_step: torch's is input, forget, candidate, "
            "output": {"order": "fiog"},
            "the last two blocks are the candidate and the output gate, in this order": {
                "order": "ifog"
            },
            "torch has two biases, and they are added": {"one_bias": True},
            "the gates look at h, not at the memory c": {"peep": True},
            "h is the output gate times the tanh of c": {"bare": True},
        }
        right = _lstm(weights, x, h, c)
        wrong = {sentence: _lstm(weights, x, h, c, **kind) for sentence, kind in mistakes.items()}
        wrong["the order is h, then c"] = right.flip(0)
        explain(
            new_c,
            right[1],
            {sentence: pair[1] for sentence, pair in wrong.items()},
            "the new c should be σ(f) times the old c, plus σ(i) times the tanh of the candidate",
        )
        explain(
            new_h,
            right[0],
            {sentence: pair[0] for sentence, pair in wrong.items()},
            "the new c is right; the new h should be σ(o) times the tanh of the new c",
        )


def _states(w: float, x: list[float]) -> list[float]:
    """Run the network with one unit; the state before comes first."""
    states = [0.0]
    for value in x:
        states.append(math.tanh(w * states[-1] + value))
    return states


def _slipped(w: float, h: list[float], slope: list[float], forward: list[float]) -> list[float]:
    """Return the terms of the faulty program of the exercise."""
    later, terms = 0.0, []
    for t in range(len(h) - 1, 0, -1):
        later = 1 + w * later * slope[t]
        terms.append(later * forward[t])
    return terms


@exercise("6.4")
def check_fault(answer: Answer) -> None:
    """Check ``answer(w, x)``: the derivative of the sum of all states."""
    random = np.random.default_rng(0)
    for length in (1, 2, 5, 9):
        w, x = float(random.uniform(0.5, 1.5)), random.normal(size=length).tolist()
        h = _states(w, x)
        slope = [1 - state**2 for state in h]
        here = [slope[t] * h[t - 1] for t in range(1, length + 1)]
        forward, backward = [0.0], [0.0] * (length + 2)
        for t in range(1, length + 1):
            forward.append(here[t - 1] + slope[t] * w * forward[-1])
        for t in range(length, 0, -1):
            later = backward[t + 1] * slope[t + 1] * w if t < length else 0.0
            backward[t] = 1 + later
        given = sum(_slipped(w, h, slope, forward))
        totals = sum(b * f for b, f in zip(backward[1:-1], forward[1:], strict=True))
        explain(
            as_number(answer(w, list(x))),
            sum(forward),
            {
                "both factors are total, so paths are counted twice; and the slope in the second "
                "loop belongs to the step after": given,
                "both factors are still total: paths are counted twice": totals,
                "the second factor is right now; the slope in the second loop belongs to the step "
                "after": sum(_slipped(w, h, slope, [0.0, *here])),
                "both factors are immediate: what h hands on to later steps is missing": sum(here),
                "only the last state's derivative: the loss is the sum of all": forward[-1],
            }
            if length > 2
            else {},
        )


@exercise("6.6")
def check_start(answer: Answer) -> None:
    """Check ``answer(n, random)``: a matrix that keeps all lengths, and mixes."""
    for seed, n in enumerate((16, 24, 33)):  # small ones hold a large entry now and then
        value = as_array(answer(n, np.random.default_rng(seed)), (n, n))
        if np.iscomplexobj(value) or not np.isfinite(value).all():
            raise Mistake("the weights should be real numbers, and finite ones")
        weight = value.astype(float)  # powers of whole numbers would run over unseen
        with np.errstate(all="ignore"):
            powers = np.stack([*itertools.accumulate([weight] * 200, np.matmul)])
        if not np.isfinite(powers).all():
            raise Mistake("within 200 steps vectors grow beyond all bounds")
        singular = np.linalg.svd(powers, compute_uv=False)
        off = abs(singular - 1).max(axis=1)
        if off.max() > 0.001:
            _say_lengths(weight, int(off.argmax()) + 1, singular[off.argmax()])
        own = abs(np.diag(weight)).max()
        if own > 0.9:
            raise Mistake(
                f"it keeps all lengths, but a unit keeps {own:.3f} of itself: nothing mixes; turn "
                "the units into each other (one reflection turns each of them a little only)"
            )
        if (most := abs(weight).max()) > 0.9:
            raise Mistake(
                f"it keeps all lengths, but a unit hands {most:.3f} of itself to a single other, "
                "as in a permutation: the numbers change places, and nothing mixes"
            )


def _say_lengths(weight: np.ndarray, steps: int, singular: np.ndarray) -> NoReturn:
    """Tell how far lengths are off, after the number of steps where they are farthest off."""
    after = "after one step" if steps == 1 else f"after {steps} steps"
    least, most = f"{singular[-1]:.3g}", f"{singular[0]:.3g}"
    if singular[-1] < 1e-11 * singular[0]:  # its digits are those of a rounding error
        least = "next to none"
    if abs(abs(np.linalg.eigvals(weight)).max() - 1) < 1e-6:
        raise Mistake(
            "the largest eigenvalue has size 1, but that speaks of eigenvectors only: "
            f"{after} some vector has {least} and another {most} times its length"
        )
    raise Mistake(
        f"{after} vectors have from {least} to {most} times their length; all of them should "
        "keep it"
    )
