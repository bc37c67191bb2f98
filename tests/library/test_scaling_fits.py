"""Fits of laws: against SciPy, where they begin and end, and what is drawn for an interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import OptimizeResult, curve_fit
from scipy.special import huber

from primer import scaling
from primer.scaling import CHINCHILLA_PRINTED, fitting


def synthetic(law, seed, noise, runs):
    """Make up runs that follow a law."""
    rng = np.random.default_rng(seed)
    n = np.exp(rng.uniform(*np.log([4e7, 1.6e10]), runs))
    d = np.exp(rng.uniform(*np.log([5e9, 5e11]), runs))
    return n, d, law.loss(n, d) * np.exp(noise * rng.normal(size=runs))


@pytest.mark.parametrize(("seed", "noise"), [(1, 0.002), (2, 0.02)])
def test_a_curve_with_a_floor_is_that_of_scipy_everywhere(seed, noise):
    x = np.logspace(3, 6, 10)
    loss = (1.5 + 20 * x**-0.35) * np.exp(noise * np.random.default_rng(seed).normal(size=10))
    law = scaling.fit_power_law(x, loss, floor=True)
    theirs, _ = curve_fit(
        lambda t, floor, height, a: np.log(floor + np.exp(height - a * t)),
        np.log(x) - np.log(x).mean(),
        np.log(loss),
        p0=(1.4, 0, 0.3),
        xtol=1e-13,
    )
    wanted = theirs[0] + np.exp(theirs[1] - theirs[2] * (np.log(x) - np.log(x).mean()))
    np.testing.assert_allclose(law.loss(x), wanted, rtol=1e-6)


def test_a_floor_lies_between_nothing_and_the_lowest_loss():
    x = np.logspace(2, 5, 8)
    bent = scaling.fit_power_law(x, np.exp(2 - 0.02 * np.log(x) ** 2), floor=True)  # ever steeper
    assert 0 <= bent.floor < 1e-3
    level = scaling.fit_power_law(x, [9.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0], floor=True)
    assert level.floor == pytest.approx(2, rel=1e-3)
    assert level.floor <= 2
    exact = scaling.fit_power_law([10.0, 100.0, 1000.0], [5.0, 3.0, 2.0], floor=True)
    assert (exact.floor, exact.exponent) == pytest.approx((1, np.log10(2)), rel=1e-5)  # 1 + 4, 2, 1
    line = scaling.fit_power_law([10.0, 100.0], [4.0, 2.0])
    assert line.loss(1000.0) == pytest.approx(1)


def test_the_objective_is_scipys_huber_of_the_misses():
    n, d, loss = synthetic(CHINCHILLA_PRINTED, 3, noise=0.02, runs=30)
    a, b, e, alpha, beta = theta = np.array([5.5, 6.5, 0.4, 0.3, 0.31])
    said = np.log(np.exp(a) / n**alpha + np.exp(b) / d**beta + np.exp(e))
    for delta in (1e-3, 0.02, 1.0):
        value, _ = scaling.chinchilla_objective(theta, np.log(n), np.log(d), np.log(loss), delta)
        assert value == pytest.approx(huber(delta, said - np.log(loss)).sum())


@pytest.fixture
def motionless(monkeypatch):
    """Let the search end where it begins; return where it begins and what it sees there."""
    begun = []

    def stay(objective, first, *, jac, method, options):
        assert (jac, method) == (True, "BFGS")
        value, gradient = objective(first)
        begun.append((first, value, gradient))
        return OptimizeResult(x=first, fun=value)

    monkeypatch.setattr(fitting, "minimize", stay)
    return begun


def test_a_fit_that_begins_at_a_law_and_does_not_move_returns_it(motionless):
    n, d, loss = synthetic(CHINCHILLA_PRINTED, 4, noise=0.02, runs=30)
    found = scaling.fit_chinchilla(n, d, loss, delta=0.01, start=CHINCHILLA_PRINTED)
    for name in ("E", "A", "B", "alpha", "beta"):
        assert getattr(found, name) == pytest.approx(getattr(CHINCHILLA_PRINTED, name), rel=1e-9)
    ((theta, value, gradient),) = motionless
    columns = np.log(n) - np.log(n).mean(), np.log(d) - np.log(d).mean(), np.log(loss)
    wanted = scaling.chinchilla_objective(theta, *columns, 0.01)
    assert value == pytest.approx(1e4 * wanted[0])
    np.testing.assert_allclose(gradient, 1e4 * wanted[1])
    floorless = replace(CHINCHILLA_PRINTED, E=0.0)
    assert pytest.approx(1e-9) == scaling.fit_chinchilla(n, d, loss, start=floorless).E


def test_without_a_start_the_search_begins_at_sixteen_places_around_the_lowest_loss(motionless):
    n, d, loss = synthetic(CHINCHILLA_PRINTED, 4, noise=0.02, runs=30)
    found = scaling.fit_chinchilla(n, d, loss)
    begun = [tuple(first) for first, *_ in motionless]
    heights = [(-1, -1, -0.5), (-0.5, -2, -0.3), (-2, -0.5, -0.3), (-3, -3, -0.1)]
    assert len(set(begun)) == len(begun) == 16
    assert {first[3:] for first in begun} == {(0.2, 0.2), (0.2, 0.6), (0.6, 0.2), (0.6, 0.6)}
    around = {tuple(np.round(first[:3] - np.log(loss.min()), 9)) for first, *_ in motionless}
    assert around == set(heights)
    best = min(motionless, key=lambda tried: tried[1])[0]
    assert np.log(found.E) == pytest.approx(best[2])
    assert (found.alpha, found.beta) == tuple(best[3:])


@pytest.mark.parametrize("axis", [0, 1])
def test_a_loss_that_rises_follows_no_such_law(axis):
    grids = np.meshgrid(np.logspace(3, 6, 3), np.logspace(5, 8, 3))
    columns = [grid.ravel() for grid in grids]
    rising = 2 + columns[axis] ** 0.1 + 100 / columns[1 - axis] ** 0.4
    with pytest.raises(ValueError, match="does not fall with parameters and tokens"):
        scaling.fit_chinchilla(*columns, rising, start=CHINCHILLA_PRINTED)


def test_five_runs_decide_five_constants():
    law = scaling.ChinchillaLaw(E=1.0, A=20.0, B=300.0, alpha=0.3, beta=0.4)
    n, d = np.array([1e3, 1e5, 1e3, 1e5, 1e4]), np.array([1e5, 1e5, 1e8, 1e8, 1e6])
    found = scaling.fit_chinchilla(n, d, law.loss(n, d))
    np.testing.assert_allclose(found.loss(n, d), law.loss(n, d), rtol=1e-3)


def test_resamples_are_drawn_with_replacement_and_those_that_fail_drawn_anew():
    x, y = np.arange(5.0), 10 * np.arange(5.0)
    tried, kept = [], []

    def fit(a, b):
        assert b.tolist() == [10 * value for value in a]  # drawn together
        tried.append(a.tolist())
        if a.mean() < 2:
            raise ValueError("too low")
        kept.append(float(a.mean()))
        return kept[-1]

    assert scaling.bootstrap(fit, x, y, resamples=20, seed=3) == kept
    rng = np.random.default_rng(3)
    assert tried == [x[rng.integers(5, size=5)].tolist() for _ in tried]
    assert len(tried) > len(kept) == 20
    with pytest.raises(ValueError, match="resamples must be"):
        scaling.bootstrap(np.mean, x, resamples=0)
    assert len(scaling.bootstrap(np.mean, x)) == 200


def test_resampling_gives_up_after_three_tries_for_each():
    tries = []

    def fail(a):
        tries.append(a)
        raise ValueError("never")

    with pytest.raises(ValueError, match="cannot be fitted: never"):
        scaling.bootstrap(fail, [1.0, 2.0], resamples=4)
    assert len(tries) == 12


def test_a_floor_under_losses_that_rise_is_refused():
    with pytest.raises(ValueError, match="does not fall with size"):
        scaling.fit_power_law([1e3, 1e4, 1e5, 1e6], [1.0, 2.0, 3.0, 4.0], floor=True)
