"""Item response: a made-up class is found again, and the fit is the top of what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit

from primer.evaluation import fit_items


def made_up(
    readers: int, slope: np.ndarray, difficulty: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Let readers answer; return their abilities and their answers."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=readers)
    probability = expit(slope * (ability[:, None] - difficulty))
    return ability, (rng.random(probability.shape) < probability).astype(float)


def test_what_a_large_class_was_made_of_is_found_again() -> None:
    rng = np.random.default_rng(5)
    slope, difficulty = np.exp(rng.normal(0, 0.4, 25)), rng.normal(0, 1, 25)
    ability, right = made_up(3000, slope, difficulty, seed=6)
    fit = fit_items(right)
    found, made = (expit(-a * b) for a, b in (fit[1::-1], (slope, difficulty)))
    np.testing.assert_allclose(found, made, atol=0.04)  # who is average solves it so often
    np.testing.assert_allclose(fit.discrimination, slope, rtol=0.25)
    assert np.corrcoef(fit.ability, ability)[0, 1] > 0.88


def test_the_fit_is_the_top_of_the_posterior_integrated_by_somebody_else() -> None:
    _, right = made_up(30, np.array([1.0, 2.0, 0.7]), np.array([-1.0, 0.0, 1.5]), seed=2)
    right[0, 1] = right[4, 2] = np.nan

    def cost(parameters: np.ndarray) -> float:
        slope, difficulty = np.exp(parameters[:3]), parameters[3:]

        def answered(ability: float, row: np.ndarray) -> float:
            chance = expit(slope * (ability - difficulty))
            return stats.norm.pdf(ability) * np.nanprod(
                np.where(row == 1, chance, 1 - chance) ** (~np.isnan(row))
            )

        likelihood = sum(
            np.log(integrate.quad(answered, -9, 9, args=(row,), limit=200)[0]) for row in right
        )
        prior = stats.norm.logpdf(parameters[:3], scale=0.5).sum()
        return -likelihood - prior - stats.norm.logpdf(difficulty, scale=2).sum()

    fit = fit_items(right)
    found = np.concatenate([np.log(fit.discrimination), fit.difficulty])
    assert np.abs(optimize.approx_fprime(found, cost, 1e-5)).max() < 0.01


def test_whom_nobody_asked_changes_nothing() -> None:
    _, right = made_up(60, np.ones(4), np.array([-1.0, 0.0, 0.5, 1.0]), seed=3)
    more = np.vstack([right, np.full((5, 4), np.nan)])
    one, other = fit_items(right), fit_items(more)
    np.testing.assert_allclose(other.difficulty, one.difficulty, atol=1e-3)
    np.testing.assert_allclose(other.ability[60:], 0, atol=1e-9)


def test_what_everybody_solved_is_easy_but_not_infinitely() -> None:
    _, right = made_up(40, np.ones(3), np.zeros(3), seed=4)
    fit = fit_items(np.column_stack([right, np.ones(40), np.zeros(40)]))
    assert -6 < fit.difficulty[3] < fit.difficulty[:3].min()
    assert fit.difficulty[:3].max() < fit.difficulty[4] < 6


@pytest.mark.parametrize("order", [[2, 0, 1], [1, 2, 0]])
def test_the_order_of_items_is_of_no_matter(order: list[int]) -> None:
    _, right = made_up(80, np.array([0.8, 1.2, 1.6]), np.array([-1.0, 0.0, 1.0]), seed=7)
    one, other = fit_items(right), fit_items(right[:, order])
    np.testing.assert_allclose(other.difficulty, one.difficulty[order], atol=2e-3)
    np.testing.assert_allclose(other.ability, one.ability, atol=2e-3)
