"""What the data's unit, origin and order change, and what they must not: every estimator.

A power of two changes no digit of a number, so a unit that is one changes none of an answer.
"""

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from primer import evaluation as ev
from primer import networks as net
from primer import regression as reg
from primer import statistics as stat
from primer.optimization import Divergence

SEEDS = st.integers(0, 2**32 - 1)
UNITS = st.integers(-300, 300).map(lambda k: 2.0**k)
OFFSETS = st.sampled_from([1e3, 1e6, 1e9, 1e12])

OF_FIT: dict[str, Callable[[reg.Fit], Any]] = {
    "leverage": reg.leverage,
    "Cook": reg.cooks_distance,
    "studentized": reg.studentized_residuals,
    "standardized": reg.standardized_residuals,
    "F": lambda fit: reg.f_test(fit).statistic,
    "Breusch-Pagan": lambda fit: reg.breusch_pagan(fit).statistic,
}
"""What has no unit."""
OF_SAMPLE: dict[str, tuple[Callable[[Any], Any], int]] = {
    "mean": (stat.sample_mean, 1),
    "variance": (stat.sample_variance, 2),
    "median": (stat.sample_median, 1),
    "trimmed mean": (stat.trimmed_mean, 1),
    "midrange": (stat.midrange, 1),
    "interval": (stat.confidence_interval, 1),
    "t": (lambda x: stat.t_test(x).statistic, 0),
    "effective size": (stat.effective_sample_size, 0),
    "conformal": (ev.conformal_quantile, 1),
}
"""What a sample says, and the power of its unit in that."""


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=25)


def close(got: Any, wanted: Any, rtol: float = 1e-9) -> None:
    got, wanted = np.asarray(got, dtype=float), np.asarray(wanted, dtype=float)
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * np.abs(wanted).max())


@given(SEEDS, UNITS, st.booleans())
def test_a_unit_changes_no_diagnosis_of_a_fit(seed, unit, of_response):
    X, y = data(seed)
    fit = reg.ols(X, y)
    other = reg.ols(X, y * unit) if of_response else reg.ols(X * unit, y)
    for look in OF_FIT.values():
        close(look(other), look(fit))
    per = np.full(4, unit) if of_response else np.append(1.0, np.full(3, 1 / unit))
    for covariance in (reg.robust_covariance, lambda f: reg.newey_west_covariance(f, 2)):
        close(covariance(other) / per[:, None] / per, covariance(fit))
    close(other.coefficients / per, fit.coefficients)


@given(SEEDS, OFFSETS, st.booleans())
def test_an_origin_changes_only_the_intercept(seed, offset, of_response):
    X, y = data(seed)
    if of_response:
        moved = y + offset
        fit, other = reg.ols(X, moved - offset), reg.ols(X, moved)
    else:
        table = X + offset
        fit, other = reg.ols(table - offset, y), reg.ols(table, y)
    close(other.coefficients[1:], fit.coefficients[1:], 1e-6)
    for name in ("leverage", "Cook", "F"):
        close(OF_FIT[name](other), OF_FIT[name](fit), 1e-5)


@given(SEEDS)
def test_the_order_of_the_rows_changes_nothing(seed):
    X, y = data(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    fit, other = reg.ols(X, y), reg.ols(X[order], y[order])
    close(other.coefficients, fit.coefficients)
    for name in ("leverage", "Cook", "studentized", "standardized"):
        close(OF_FIT[name](other), OF_FIT[name](fit)[order])
    close(reg.robust_covariance(other), reg.robust_covariance(fit))
    close(reg.lasso(X[order], y[order], 0.1), reg.lasso(X, y, 0.1), 1e-3)
    labels, classes = (y > 0).astype(int), np.digitize(y, np.quantile(y, [0.3, 0.6]))
    for solve, wanted in ((net.logistic_regression, labels), (net.softmax_regression, classes)):
        first, second = solve(X, wanted, 0.1), solve(X[order], wanted[order], 0.1)
        close(second.weights, first.weights, 1e-6)
        close(second.bias, first.bias, 1e-6)
    places = np.arange(25) % 4
    close(ev.clustered_mean(y[order], places[order]), ev.clustered_mean(y, places))
    close(ev.intraclass_correlation(y[order], places[order]), ev.intraclass_correlation(y, places))


@given(SEEDS, UNITS)
def test_penalties_are_in_the_units_of_the_data(seed, unit):
    X, y = data(seed)
    small = 2.0 ** (np.log2(unit) / 3 // 1)  # whose square is multiplied with a penalty
    close(reg.ridge(X * small, y, 0.5 * small**2) * small, reg.ridge(X, y, 0.5))
    close(reg.ridge(X, y * unit, 0.5) / unit, reg.ridge(X, y, 0.5))
    close(reg.lasso(X * unit, y, 0.1 * unit) * unit, reg.lasso(X, y, 0.1))
    close(reg.lasso(X, y * unit, 0.1 * unit) / unit, reg.lasso(X, y, 0.1))
    close(reg.variance_inflation(X * unit), reg.variance_inflation(X))


@given(SEEDS, OFFSETS)
def test_a_classifier_does_not_depend_on_where_zero_is(seed, offset):
    """The weights did, with columns of 1e9 and more: Newton's steps ended where nothing was."""
    X, y = data(seed)
    moved = X + offset
    same = moved - offset  # with the digits that are left
    labels, classes = (y > 0).astype(int), np.digitize(y, np.quantile(y, [0.3, 0.6]))
    for solve, wanted in ((net.logistic_regression, labels), (net.softmax_regression, classes)):
        fit, other = solve(same, wanted, 0.1), solve(moved, wanted, 0.1)
        close(other.weights, fit.weights, 1e-6)
        at_middle = other.bias + moved.mean(axis=0) @ other.weights
        close(at_middle, fit.scores(same.mean(axis=0)[None])[0], max(1e-6, 1e-14 * offset))


@given(SEEDS, st.integers(-480, 480).map(lambda k: 2.0**k))
def test_a_sample_has_a_unit(seed, unit):
    x = np.exp(np.random.default_rng(seed).normal(size=30))
    for look, power in OF_SAMPLE.values():
        close(np.asarray(look(x * unit)) / unit**power, look(x), 1e-12)
    places = np.arange(30) % 4
    close(
        np.array(ev.clustered_mean(x * unit, places)[:2]) / unit, ev.clustered_mean(x, places)[:2]
    )
    close(ev.intraclass_correlation(x * unit, places), ev.intraclass_correlation(x, places))
    signs = x[:10] - 1
    flips = [ev.sign_flip_test(s, np.random.default_rng(0)) for s in (signs, signs * unit)]
    assert flips[0] == flips[1]


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9, 1e12])
@given(seed=SEEDS)
def test_a_sample_has_an_origin(seed, offset):
    x = np.exp(np.random.default_rng(seed).normal(size=30)) + offset
    own = x - offset
    for name, (look, power) in OF_SAMPLE.items():
        if name == "t":
            continue
        result = np.asarray(look(x)) - (offset if power == 1 else 0)
        close(result, look(own), 1e-9 if power != 1 else max(1e-9, 4e-16 * offset))


@pytest.mark.parametrize("penalty", [1e-3, 1e-12, 1e-100, 1e-300])
def test_a_plane_between_the_classes_leaves_the_penalty_to_decide(penalty):
    """Two examples at ±1: the weight solves λw = 2σ(−w), those of classes λw = 2σ(−2w)."""

    def zero(factor: float, slope: float) -> float:
        return brentq(
            lambda w: np.log(penalty * w / factor) + np.logaddexp(0, slope * w),
            1e-3,
            800,
            xtol=1e-13,
        )

    X = [[-1.0], [1.0]]
    one = net.logistic_regression(X, [0, 1], penalty)
    np.testing.assert_allclose(one.weights, zero(2, 1), rtol=1e-9)
    several = net.softmax_regression(X, [0, 1], penalty)
    np.testing.assert_allclose(several.weights, [[-zero(2, 2), zero(2, 2)]], rtol=1e-9)
    for fit in (one, several):
        np.testing.assert_allclose(fit.bias, 0, atol=1e-9)


@given(st.floats(-700, 700), st.integers(0, 1))
def test_a_loss_near_none_keeps_its_digits(score, label):
    """σ(40) − 1 and log(1 + e^40) − 40 had been 0."""
    away = score * (1 - 2 * label)
    exact = np.log1p(np.exp(away)) if away < 30 else away
    assert net.logistic_loss([score], [[1.0]], [label]) == pytest.approx(exact, rel=1e-14)
    slope = (1 - 2 * label) * np.exp(-np.logaddexp(0, -away))
    np.testing.assert_allclose(net.logistic_gradient([score], [[1.0]], [label]), slope, rtol=1e-12)


@pytest.mark.parametrize("count", [9_999, 10_000, 10**6, 10**9, 10**12, 10**15])
@pytest.mark.parametrize("away", [0.0, 0.01, 3.0])
def test_poisson_counts_of_any_size_have_a_density(count, away):
    """Three terms of 1e16 cancel: the density of 10¹⁵ where it is likeliest was a sixth of it."""
    rate = count + away * np.sqrt(count)
    found = float(np.log(stat.Poisson().density([count], rate)[0]))
    with localcontext() as context:
        context.prec = 60
        n, theta, pi = Decimal(count), Decimal(float(rate)), Decimal("3.14159265358979323846264338")
        factorial = n * n.ln() - n + (2 * pi * n).ln() / 2 + 1 / (12 * n) - 1 / (360 * n**3)
        exact = float(n * theta.ln() - theta - factorial)
    assert found == pytest.approx(exact, rel=1e-9)


def test_what_a_library_makes_can_be_sent_to_another_process():
    for made in (net.identity, net.sigmoid, net.tanh, net.relu, net.gelu, net.silu):
        assert pickle.loads(pickle.dumps(made)) is made
        assert copy.deepcopy(made) is made
    leaky = pickle.loads(pickle.dumps(net.leaky_relu(0.1)))
    np.testing.assert_array_equal(leaky([-2.0, 3.0]), net.leaky_relu(0.1)([-2.0, 3.0]))
    error = Divergence(7, 1e9, "take a smaller step")
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert (str(again), again.steps, again.size) == (str(error), 7, 1e9)
