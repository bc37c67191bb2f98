"""What widgets say: whole sentences, every number in them computed here in another way."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.special
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from primer.widgets.spend_compute import LAWS

# --- scores as probabilities ------------------------------------------------------------------


@given(
    scores=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=8),
    shift=st.sampled_from([0.0, 709.0, 1800.0, -1e6, 1e6]),
)
def test_scores_of_any_size_are_probabilities(javascript, scores, shift):
    moved = np.array(scores) + shift
    expected = scipy.special.softmax(moved)
    np.testing.assert_allclose(javascript("probability.js", "softmax", moved), expected, atol=1e-12)
    logs = javascript("probability.js", "logSoftmax", moved)
    np.testing.assert_allclose(logs, scipy.special.log_softmax(moved), rtol=1e-9, atol=1e-9)
    entropy = scipy.special.entr(expected).sum()
    assert javascript("probability.js", "entropy", expected) == pytest.approx(entropy, abs=1e-12)
    got = javascript("probability.js", "effectiveChoices", expected)
    assert got == pytest.approx(math.exp(entropy))


# --- the best step in three norms -------------------------------------------------------------


BEST = {
    "l1": ("ℓ1", "the largest coordinate only", "(−0.50, 0.00)", 0.5 * 1.2),
    "l2": ("ℓ2", "gradient descent", "(−0.40, 0.30)", 0.5 * 1.5),
    "linf": ("ℓ∞", "sign descent", "(−0.50, 0.50)", 0.5 * 2.1),
}
"""For the gradient (1.2, −0.9), of length 1.5, and a radius of 0.5."""


@pytest.mark.parametrize("norm", sorted(BEST))
def test_each_norm_names_its_own_rule(javascript, norm):
    angle = math.degrees(math.atan2(-0.9, 1.2))
    name, rule, step, drop = BEST[norm]
    assert javascript("norm_ball.js", "describe", angle, 1.5, 0.5, norm) == (
        f"In {name} the best step is {step}: {rule}. "
        f"To first order the loss falls by η times the dual norm of g, {drop:.3f}."
    )


# --- the smallest sample ----------------------------------------------------------------------


@pytest.mark.parametrize("effect", [0.5, 0.1, 0.05, 0.04, 0.03, 0.029])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_smallest_sample_is_found_up_to_the_number_that_is_said(
    javascript, effect, alternative
):
    words = {"two-sided": "two-sided", "greater": "larger"}[alternative]
    exact = TTestPower().solve_power(effect, alpha=0.05, power=0.8, alternative=words)
    found = javascript("power.js", "sampleSize", effect, 0.8, 0.05, alternative)
    assert found == math.ceil(exact) <= 10_000
    assert javascript("power.js", "describeSize", found, 0.8) == (
        f"A power of 0.8 for this effect needs n = {found}."
    )


def test_beyond_it_a_sentence_says_how_far_it_looked(javascript):
    exact = TTestPower().solve_power(0.028, alpha=0.05, power=0.8, alternative="two-sided")
    assert exact > 10_000
    found = javascript("power.js", "sampleSize", 0.028, 0.8, 0.05, "two-sided")
    assert found is None
    assert javascript("power.js", "describeSize", found, 0.8) == (
        "No sample of up to 10,000 finds this effect with a power of 0.8."
    )


# --- how much a penalty shrinks ---------------------------------------------------------------


@pytest.mark.parametrize(("penalty", "percent"), [(1.0, 83), (5.0, 50), (45.0, 10), (0.1, 98)])
def test_the_slope_that_a_penalty_leaves(javascript, penalty, percent):
    x, y = np.array([1.0, 2.0, 4.0, 5.0]) - 3, np.array([1.0, 2.0, 3.0, 6.0])
    x = x / math.sqrt(2)  # Σx² is 5, so that λ leaves 5 / (5 + λ) of the slope
    free = float(x @ y / (x @ x))
    ridge = np.linalg.lstsq(
        np.vstack([x[:, None], [[math.sqrt(penalty)]]]), np.append(y - y.mean(), 0), rcond=None
    )[0][0]
    assert round(100 * ridge / free) == percent
    state = {
        "fit": {"intercept": 3.0, "slope": float(ridge)},
        "free": {"intercept": 3.0, "slope": free},
        "assessed": {"fit": {"rss": 7.0, "residuals": []}, "own": {"rss": 5.0}},
        "shown": {"fit": True, "own": False},
        "penalty": penalty,
        "chosen": None,
        "points": [],
        "leverage": [],
    }
    assert javascript("least_squares.js", "describe", state) == (
        f"Ridge: ŷ = 3.00 + {ridge:.3f} x, RSS 7.00. "
        f"The slope is {percent}% of that without penalty."
    )


# --- the valley of a budget -------------------------------------------------------------------


def units(x: float) -> str:
    """Write a number as 343 B."""
    power = min(3 * int(math.log10(x) // 3), 12)
    return f"{x / 10**power:.3g} {' KMBT'[power // 3]}"


@pytest.mark.parametrize("budget", [1e20, 1e21, 5.76e23])
def test_what_is_said_of_a_budget_are_the_numbers_of_its_valley(javascript, budget):
    law = LAWS["printed"]

    def loss(log_size: float) -> float:
        size = math.exp(log_size)
        tokens = budget / (6 * size)
        return law.E + law.A / size**law.alpha + law.B / tokens**law.beta

    ends = (math.log(1e6), math.log(1e14))
    best = scipy.optimize.minimize_scalar(
        loss, bounds=ends, method="bounded", options={"xatol": 1e-9}
    )
    sides = [
        math.exp(scipy.optimize.brentq(lambda t: loss(t) - best.fun - 0.01, end, best.x))
        for end in ends
    ]
    size = math.exp(best.x)
    got = javascript("spend_compute.js", "band", vars_of(law), budget, 0, size)
    np.testing.assert_allclose(got, sides, rtol=1e-4)
    line = javascript("spend_compute.js", "describe", vars_of(law), budget, size, 0)
    each = budget / (6 * size) / size
    low, high = (units(side) for side in sides)
    assert line == (
        f"{units(size)} parameters read {units(size * each)} tokens, {each:.3g} for each: "
        f"loss {best.fun:.3f}. Lowest: {units(size)} parameters, {each:.3g} tokens for each, "
        f"loss {best.fun:.3f}; within 0.01 of it from {low} to {high}."
    )


def vars_of(law: object) -> dict[str, float]:
    """Return the constants of a law by name."""
    return {name: getattr(law, name) for name in ("E", "A", "B", "alpha", "beta")}
