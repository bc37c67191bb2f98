"""Answers to the exercises on statistics."""

import itertools
import math

import numpy as np

from primer.exercises import statistics as exercises


def arrangements(x, y, count):
    pooled = np.array([*x, *y])
    everything = range(len(pooled))
    gaps = []
    for chosen in itertools.combinations(everything, len(x)):
        rest = [i for i in everything if i not in chosen]
        gaps.append(pooled[list(chosen)].mean() - pooled[rest].mean())
    return count(np.array(gaps), np.mean(x) - np.mean(y))


def dealt_at_random(x, y, deals=1999):
    rng, pooled = np.random.default_rng(4), np.array([*x, *y])
    mixed = rng.permuted(np.tile(pooled, (deals, 1)), axis=1)[:, : len(x)].sum(axis=1)
    return (np.sum(mixed >= sum(x) - 1e-9) + 1) / (deals + 1)


RIGHT = [
    (exercises.check_best_shrinkage, lambda m, s, n: m**2 / (m**2 + s**2 / n)),
    (exercises.check_geometric_information, lambda p: 1 / (p * p * (1 - p))),
    (
        exercises.check_permutation_p_value,
        lambda x, y: arrangements(x, y, lambda gaps, seen: np.mean(gaps >= seen - 1e-9)),
    ),
]

WRONG = [
    (exercises.check_edge, 0.35, "round once, at the end"),
    (exercises.check_edge, 0.32, "with σ = 1"),
    (exercises.check_best_shrinkage, lambda m, s, n: 1, "little bias"),
    (exercises.check_best_shrinkage, lambda m, s, n: m**2 / (m**2 + s**2), "mean of n"),
    (exercises.check_best_shrinkage, lambda m, s, n: s**2 / n / (m**2 + s**2 / n), "noise"),
    (exercises.check_best_shrinkage, lambda m, s, n: m**2 / (m**2 + s**2 / (n - 1)), "n − 1"),
    (exercises.check_best_shrinkage, lambda m, s, n: "c", "should be a number"),
    (exercises.check_best_shrinkage, lambda m, s, n: math.nan, "divided by zero"),
    (
        exercises.check_best_shrinkage,
        lambda m, s, n: m / (m + s / math.sqrt(n)),
        "both parts are to be squared",
    ),
    (exercises.check_geometric_information, lambda p: 1 / (p * (1 - p)), "single toss"),
    (
        exercises.check_geometric_information,
        lambda p: 1 / p**2 - 1 / (p * (1 - p)),
        "sign of one term",
    ),
    (exercises.check_geometric_information, lambda p: -1 / (p * p * (1 - p)), "sign"),
    (exercises.check_geometric_information, lambda p: 1 / p**2, "missing"),
    (exercises.check_geometric_information, lambda p: 7.0, "is right"),
    (
        exercises.check_geometric_information,
        lambda p: {0.2: 31.25, 0.5: 8.0, 0.9: 1 / 0.081}.get(p, 1.0),
        "is right",
    ),
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
    (
        exercises.check_permutation_p_value,
        lambda x, y: np.mean([sum(g) >= sum(x) for g in itertools.combinations(x + y, len(x))]),
        "leave a little room",
    ),
    (exercises.check_permutation_p_value, dealt_at_random, "list the deals"),
    (  # what `sum` does from Python 3.12 on: it keeps what rounding loses on the way
        exercises.check_permutation_p_value,
        lambda x, y: np.mean(
            [math.fsum(g) >= math.fsum(x) for g in itertools.combinations(x + y, len(x))]
        ),
        "leave a little room",
    ),
    (
        exercises.check_permutation_p_value,
        lambda x, y: np.mean(
            [sum(g) >= sum(x) - 1e-9 for g in {*itertools.combinations(x + y, len(x))}]
        ),
        "choose places",
    ),
]
