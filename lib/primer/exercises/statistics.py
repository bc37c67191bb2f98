"""Checks of the exercises of chapter 01: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy.stats import norm

from primer.notebook import Mistake, exercise
from primer.notebook.answers import Answer, as_number, explain


def _explain(case: str, value: Any, right: float, mistakes: dict[str, float]) -> None:
    """Raise the mistake whose result was given, or say for which case the numbers differ."""
    got = as_number(value)
    explain(got, right, mistakes, f"{case} the result is {got:.6g}, but {right:.6g} is right")


@exercise("1.1")
def check_best_shrinkage(best_shrinkage: Answer) -> None:
    """Check ``best_shrinkage(mean, sd, n)``, the c that minimizes the error of c·X̄."""
    for mean, sd, n in ((2.0, 3.0, 4), (-0.5, 1.0, 10), (10.0, 1.0, 2)):
        signal, noise = mean**2, sd**2 / n
        _explain(
            f"for mean {mean:g}, sd {sd:g}, n = {n}",
            best_shrinkage(mean, sd, n),
            signal / (signal + noise),
            {
                "1 is the unbiased choice, but a little bias buys a smaller error": 1.0,
                "that is the variance of one observation; the mean of n has σ²/n": signal
                / (signal + sd**2),
                "that is the share of the noise; the factor is the share of the signal": noise
                / (signal + noise),
                "the standard deviation of the mean is σ/√n; its square is what counts": signal
                / (signal + sd / math.sqrt(n)),
            },
        )


@exercise("1.2")
def check_geometric_information(geometric_information: Answer) -> None:
    """Check ``geometric_information(p)``, for the number of tosses up to the first head."""
    for p in (0.2, 0.5, 0.9):
        _explain(
            f"for p = {p}",
            geometric_information(p),
            1 / (p**2 * (1 - p)),
            {
                "that is the information of a single toss; here the tosses go on until the first "
                "head": 1 / (p * (1 - p)),
                "the sign: information is minus the expected second derivative": -1
                / (p**2 * (1 - p)),
                "the term with x is missing: E(x) = 1/p tosses, so E(x − 1) = (1 − p)/p": 1 / p**2,
                "the expected number of failures is E(x − 1) = (1 − p)/p, not 1/p": 1 / p**2
                + 1 / (p * (1 - p) ** 2),
                "that is the variance of x, not the information about p": (1 - p) / p**2,
            },
        )


@exercise("1.3")
def check_unbiased_maximum(unbiased_maximum: Answer) -> None:
    """Check ``unbiased_maximum(x)``, an unbiased estimate of θ from the largest observation."""
    for x in (np.array([0.3, 1.9, 1.2, 0.8]), np.array([5.0]), np.linspace(0.1, 3, 11)):
        n, top = len(x), float(x.max())
        mistakes = {
            "the maximum itself is too small in every sample: its mean is nθ/(n + 1)": top,
            "n/(n + 1) is how much too small the maximum is; divide by it instead": top
            * n
            / (n + 1),
            "2x̄ is unbiased, but it does not use the maximum and is far less precise": 2
            * float(x.mean()),
        }
        if n > 1:
            mistakes["E(max) = nθ/(n + 1), not (n − 1)θ/n: integrate t·n tⁿ⁻¹/θⁿ once more"] = (
                top * n / (n - 1)
            )
        _explain(f"for {x.round(2).tolist()}", unbiased_maximum(x), top * (n + 1) / n, mistakes)


@exercise("1.4")
def check_permutation_p_value(permutation_p_value: Answer) -> None:
    """Check ``permutation_p_value(x, y)``, exact and one-sided, from the difference of means."""
    cases = [([3.0, 5.0, 4.0], [1.0, 2.0, 4.5]), ([1.0, 2.0], [3.0, 4.0, 9.0]), ([2.0], [1.0, 0.0])]
    for x, y in cases:
        pooled, m = np.array(x + y), len(x)
        everything = set(range(len(pooled)))
        chosen = [list(c) for c in itertools.combinations(range(len(pooled)), m)]
        gaps = np.array(
            [pooled[c].mean() - pooled[list(everything - set(c))].mean() for c in chosen]
        )
        seen = gaps[0]  # the first choice is the arrangement that was observed
        at_least = gaps >= seen - 1e-12
        beyond = gaps > seen + 1e-12
        mistakes = {
            "the observed arrangement counts too: ask for ≥, not >": float(beyond.mean()),
            "two-sided: the question was whether x is larger": float(
                (np.abs(gaps) >= abs(seen) - 1e-12).mean()
            ),
            "the wrong side: large differences x̄ − ȳ speak against H₀": float(
                (gaps <= seen + 1e-12).mean()
            ),
        }
        _explain(
            f"for x = {x} and y = {y}", permutation_p_value(x, y), float(at_least.mean()), mistakes
        )


@exercise("1.5")
def check_observations_needed(observations_needed: Answer) -> None:
    """Check ``observations_needed(effect, alpha, power)`` of the one-sided z test."""
    for effect, alpha, power in ((0.5, 0.05, 0.8), (0.2, 0.01, 0.9), (1.0, 0.05, 0.95)):
        z_alpha, z_power = norm.isf(alpha), norm.ppf(power)
        exact = float(((z_alpha + z_power) / effect) ** 2)
        two_sided = float(((norm.isf(alpha / 2) + z_power) / effect) ** 2)
        _explain(
            f"for effect {effect}, α = {alpha}, power {power}",
            observations_needed(effect, alpha, power),
            math.ceil(exact),
            {
                "a sample has whole numbers of observations: round up": exact,
                "rounded down the power is missed by a little: round up": math.floor(exact),
                "that is the two-sided test; one side has the whole of α": math.ceil(two_sided),
                "the effect of n observations grows like √n, so n is a square": math.ceil(
                    float((z_alpha + z_power) / effect)
                ),
                "the quantile of the power is missing: this n has a power of one half": math.ceil(
                    float((z_alpha / effect) ** 2)
                ),
            },
        )


@exercise("1.6")
def check_streak(streak: Answer) -> None:
    """Check ``streak(successes, trials, length)``, the chance that the next trials all succeed."""
    for k, n, length in ((7, 10, 1), (7, 10, 3), (0, 0, 2), (5, 5, 4)):
        right = math.prod((k + 1 + i) / (n + 2 + i) for i in range(length))
        mistakes = {
            "given the data the next trials are not independent: each success raises the chance "
            "of the one after it": ((k + 1) / (n + 2)) ** length,
            "that is the prior's word on one trial after another, without the data": 1
            / (length + 1),
        }
        if n:
            mistakes["that puts the estimate k/n in place of the unknown; average over it"] = (
                k / n
            ) ** length
        _explain(
            f"after {k} successes in {n} trials, for a streak of {length},",
            streak(k, n, length),
            right,
            mistakes,
        )


@exercise("1.7")
def check_metropolis_step(metropolis_step: Answer) -> None:
    """Check ``metropolis_step(log_density, state, proposal, uniform)``, the next state."""

    def log_density(x: float) -> float:
        return -(x**2) / 2

    if metropolis_step(log_density, 2.0, 1.0, 0.999) != 1.0:
        raise Mistake("a proposal with a higher density is always accepted")
    ratio = math.exp(log_density(1.0) - log_density(0.0))  # 0.607
    refused = metropolis_step(log_density, 0.0, 1.0, ratio + 0.01)
    if refused is None:
        raise Mistake("a refused proposal leaves the old state; return it, it counts once more")
    if refused == 1.0:
        raise Mistake(
            f"with the density ratio {ratio:.3f} a uniform number of {ratio + 0.01:.3f} refuses"
        )
    accepted = metropolis_step(log_density, 0.0, 1.0, ratio - 0.01)
    if accepted == 0.0:
        if metropolis_step(log_density, 0.0, 1.0, 1e-12) == 0.0:
            raise Mistake(
                "a proposal with a lower density must have its chance: only then does the walk "
                "visit the hills in the right proportion. (Or did you compare the uniform number "
                "with the logarithm of the ratio?)"
            )
        raise Mistake(f"the chance to accept is the ratio of the densities, here {ratio:.3f}")
    if (refused, accepted) != (0.0, 1.0):
        raise Mistake(f"the next state is the old one or the proposal, got {refused}, {accepted}")
