"""Answers to the exercises on statistics."""

import itertools
import math

import numpy as np
from scipy.stats import norm

from primer.exercises import statistics as exercises


def arrangements(x, y, count):
    pooled = np.array([*x, *y])
    everything = range(len(pooled))
    gaps = []
    for chosen in itertools.combinations(everything, len(x)):
        rest = [i for i in everything if i not in chosen]
        gaps.append(pooled[list(chosen)].mean() - pooled[rest].mean())
    return count(np.array(gaps), np.mean(x) - np.mean(y))


def step(log_density, state, proposal, uniform):
    ratio = math.exp(min(0.0, log_density(proposal) - log_density(state)))
    return proposal if uniform < ratio else state


def needed(effect, alpha, power):
    return ((norm.isf(alpha) + norm.ppf(power)) / effect) ** 2


RIGHT = [
    (exercises.check_best_shrinkage, lambda m, s, n: m**2 / (m**2 + s**2 / n)),
    (exercises.check_geometric_information, lambda p: 1 / (p * p * (1 - p))),
    (exercises.check_unbiased_maximum, lambda x: (len(x) + 1) / len(x) * max(x)),
    (
        exercises.check_permutation_p_value,
        lambda x, y: arrangements(x, y, lambda gaps, seen: np.mean(gaps >= seen - 1e-9)),
    ),
    (exercises.check_observations_needed, lambda d, a, p: math.ceil(needed(d, a, p))),
    (
        exercises.check_streak,
        lambda k, n, m: math.prod((k + 1 + i) / (n + 2 + i) for i in range(m)),
    ),
    (exercises.check_metropolis_step, step),
]

WRONG = [
    (exercises.check_best_shrinkage, lambda m, s, n: 1, "little bias"),
    (exercises.check_best_shrinkage, lambda m, s, n: m**2 / (m**2 + s**2), "mean of n"),
    (exercises.check_best_shrinkage, lambda m, s, n: s**2 / n / (m**2 + s**2 / n), "noise"),
    (exercises.check_best_shrinkage, lambda m, s, n: "c", "one number"),
    (exercises.check_best_shrinkage, lambda m, s, n: math.nan, "divided by zero"),
    (exercises.check_geometric_information, lambda p: 1 / (p * (1 - p)), "single toss"),
    (exercises.check_geometric_information, lambda p: -1 / (p * p * (1 - p)), "sign"),
    (exercises.check_geometric_information, lambda p: 1 / p**2, "missing"),
    (exercises.check_geometric_information, lambda p: 7.0, "is right"),
    (exercises.check_unbiased_maximum, max, "too small"),
    (exercises.check_unbiased_maximum, lambda x: 2 * np.mean(x), "does not use"),
    (exercises.check_unbiased_maximum, lambda x: len(x) / (len(x) + 1) * max(x), "divide"),
    (
        exercises.check_permutation_p_value,
        lambda x, y: arrangements(x, y, lambda gaps, seen: np.mean(gaps > seen + 1e-9)),
        "ask for ≥",
    ),
    (
        exercises.check_permutation_p_value,
        lambda x, y: arrangements(x, y, lambda g, seen: np.mean(abs(g) >= abs(seen) - 1e-9)),
        "two-sided",
    ),
    (
        exercises.check_permutation_p_value,
        lambda x, y: arrangements(x, y, lambda gaps, seen: np.mean(gaps <= seen + 1e-9)),
        "wrong side",
    ),
    (exercises.check_observations_needed, needed, "round up"),
    (exercises.check_observations_needed, lambda d, a, p: int(needed(d, a, p)), "down"),
    (
        exercises.check_observations_needed,
        lambda d, a, p: math.ceil(needed(d, a / 2, p)),
        "two-sided",
    ),
    (
        exercises.check_observations_needed,
        lambda d, a, p: math.ceil(math.sqrt(needed(d, a, p))),
        "square",
    ),
    (exercises.check_streak, lambda k, n, m: ((k + 1) / (n + 2)) ** m, "independent"),
    (exercises.check_streak, lambda k, n, m: (k / n) ** m, "in place of the unknown"),
    (exercises.check_streak, lambda k, n, m: 1 / (m + 1), "without the data"),
    (
        exercises.check_metropolis_step,
        lambda f, state, proposal, u: proposal if f(proposal) > f(state) else state,
        "must have its chance",
    ),
    (
        exercises.check_metropolis_step,
        lambda f, state, proposal, u: proposal if u < f(proposal) - f(state) else state,
        "always accepted|must have its chance",
    ),
    (
        exercises.check_metropolis_step,
        lambda f, state, proposal, u: proposal if step(f, state, proposal, u) != state else None,
        "leaves the old state",
    ),
    (exercises.check_metropolis_step, lambda f, state, proposal, u: proposal, "refuses"),
]
