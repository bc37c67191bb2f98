"""Least squares at the edges: a common level, huge and tiny units, through the origin."""

import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.outliers_influence import variance_inflation_factor

from primer import regression as reg

SEEDS = st.integers(0, 2**32 - 1)
LEVELS = st.sampled_from([-1e12, 1e4, 1e8, 1e12])


@given(seed=SEEDS, level=LEVELS, groups=st.integers(2, 9))
def test_f_under_a_common_level_is_scipys(seed, level, groups):
    rng = np.random.default_rng(seed)
    g = np.repeat(np.arange(groups), 20)
    y = level + 0.2 * (g % 2) + rng.normal(0, 0.1, len(g))
    expected = scipy.stats.f_oneway(*[y[g == k] - level for k in range(groups)]).statistic
    dummies = (g[:, None] == np.arange(groups)).astype(float)
    fit = reg.ols(dummies[:, 1:], y)
    assert reg.f_test(fit).statistic == pytest.approx(expected, rel=1e-8)
    whole, mean = (reg.ols(X, y, intercept=False) for X in (dummies, np.ones((len(y), 1))))
    assert reg.f_test(whole, mean).statistic == pytest.approx(expected, rel=1e-8)


@given(seed=SEEDS, level=LEVELS, place=LEVELS)
def test_a_line_far_from_0_is_scipys(seed, level, place):
    rng = np.random.default_rng(seed)
    x = place + rng.normal(0, 10, 50)
    y = level + 0.02 * (x - place) + rng.normal(0, 0.1, 50)
    fit, peer = reg.ols(x[:, None], y), scipy.stats.linregress(x - place, y - level)
    assert fit.coefficients[1] == pytest.approx(peer.slope, rel=1e-9)
    assert fit.standard_errors[1] == pytest.approx(peer.stderr, rel=1e-9)
    assert fit.r_squared == pytest.approx(peer.rvalue**2, rel=1e-9)
    assert reg.simple_regression(x, y).slope == pytest.approx(peer.slope, rel=1e-9)
    expected = sm.OLS(y - level, sm.add_constant(x - place)).fit().get_prediction([[1.0, 3.0]])
    got = reg.predict(fit, [[place + 3.0]], of="mean")
    assert got.mean[0] - level == pytest.approx(expected.predicted_mean[0], abs=2e-3)
    half = (got.high[0] - got.low[0]) / 2
    assert half == pytest.approx(np.ptp(expected.conf_int()) / 2, rel=2e-2, abs=2e-3)


def test_the_fit_that_was_called_exact():
    rng = np.random.default_rng(0)
    x = np.arange(50.0)
    y = 1e12 + 0.02 * x + 0.1 * rng.normal(size=50)
    fit = reg.ols(x[:, None], y)
    assert fit.standard_errors[1] == pytest.approx(
        scipy.stats.linregress(x, y - 1e12).stderr, rel=1e-9
    )
    with pytest.raises(ValueError, match="exact up to rounding"):
        _ = reg.ols(x[:, None], 1e12 + 0.25 * x).variance


def test_unrelated_columns_far_from_0_are_not_nested():
    rng = np.random.default_rng(1)
    y, a, b = rng.normal(size=(3, 30))
    with pytest.raises(ValueError, match="not nested"):
        reg.f_test(reg.ols(1e12 + np.c_[a, a**2], y), reg.ols(1e12 + b[:, None], y))


@pytest.mark.parametrize("power", [-200, 200])
@given(seed=SEEDS)
def test_what_has_no_unit_is_the_same_in_any(power, seed):
    rng, unit = np.random.default_rng(seed), 10.0**power
    X, y = rng.normal(size=(12, 2)), rng.normal(size=12)
    plain, scaled = reg.ols(X, y), reg.ols(X * unit, y * unit)
    same = {"rel": 1e-8}
    np.testing.assert_allclose(scaled.coefficients[1:], plain.coefficients[1:], rtol=1e-8)
    np.testing.assert_allclose(scaled.standard_errors[1:], plain.standard_errors[1:], rtol=1e-8)
    assert scaled.r_squared == pytest.approx(plain.r_squared, **same)
    assert reg.f_test(scaled).statistic == pytest.approx(reg.f_test(plain).statistic, **same)
    for look in (reg.standardized_residuals, reg.studentized_residuals, reg.cooks_distance):
        np.testing.assert_allclose(look(scaled), look(plain), rtol=1e-6)
    assert reg.breusch_pagan(scaled).statistic == pytest.approx(
        reg.breusch_pagan(plain).statistic, **same
    )
    np.testing.assert_allclose(
        reg.variance_inflation(X * unit), reg.variance_inflation(X), rtol=1e-8
    )
    assert reg.r_squared(y * unit, X[:, 0] * unit) == pytest.approx(reg.r_squared(y, X[:, 0]))
    with pytest.raises(ValueError, match=r"variance is too .* for a floating-point number"):
        _ = scaled.variance
    Q, R = reg.householder_qr(X * unit)
    np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(Q @ R, X * unit, rtol=1e-10)


def test_variance_inflation_far_from_0():
    X = np.random.default_rng(2).normal(size=(40, 3))
    X[:, 2] += X[:, 0]
    whole = sm.add_constant(X)
    expected = [variance_inflation_factor(whole, j) for j in (1, 2, 3)]
    np.testing.assert_allclose(reg.variance_inflation(X + 1e9), expected, rtol=1e-5)


# Through the origin -------------------------------------------------------------------------------


def test_nist_no_intercept_1():
    x, y = np.arange(60.0, 71), np.arange(130.0, 141)
    fit = reg.ols(x[:, None], y, intercept=False)
    assert fit.coefficients[0] == pytest.approx(2.07438016528926, rel=1e-13)
    assert fit.standard_errors[0] == pytest.approx(0.165289256198347e-1, rel=1e-12)
    assert fit.deviation == pytest.approx(3.56753034006338, rel=1e-13)
    assert fit.r_squared == pytest.approx(0.999365492298663, rel=1e-13)
    assert reg.r_squared(y, fit.fitted, centered=False) == pytest.approx(fit.r_squared)
    assert reg.r_squared(y, fit.fitted) == pytest.approx(-0.15702479338843)


def test_nist_no_intercept_2():
    fit = reg.ols([[4.0], [5.0], [6.0]], [3.0, 4.0, 4.0], intercept=False)
    assert fit.coefficients[0] == pytest.approx(0.727272727272727, rel=1e-13)
    assert fit.r_squared == pytest.approx(0.993348115299335, rel=1e-13)


def test_nist_norris_and_longley_under_a_level():
    x = np.array([60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761, 66019], dtype=float)
    z = np.arange(1947.0, 1956)
    plain = sm.OLS(x, sm.add_constant(z - 1951)).fit()
    far = reg.ols(z[:, None] + 1e9, x + 1e11)
    assert far.coefficients[1] == pytest.approx(plain.params[1], rel=1e-11)
    assert far.r_squared == pytest.approx(plain.rsquared, rel=1e-10)


@given(seed=SEEDS, constant=st.booleans())
def test_r_squared_without_an_intercept_is_statsmodels(seed, constant):
    rng = np.random.default_rng(seed)
    y, X = rng.normal(2, 1, 12), rng.normal(1, 1, (12, 2))
    if constant:  # two groups make a constant, so the mean is among the fits
        X = np.c_[np.arange(12) < 5, np.arange(12) >= 5].astype(float)
    fit = reg.ols(X, y, intercept=False)
    assert fit.has_constant == constant
    assert fit.r_squared == pytest.approx(sm.OLS(y, X).fit().rsquared, abs=1e-10)


# Calls --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: reg.k_folds(6, 2.0, np.random.default_rng(0)), "k must be a whole number"),
        (lambda: reg.k_folds(6, 2, 0), "rng must be NumPy's random generator"),
        (lambda: reg.adjusted_r_squared([1, 2, 4], [1, 2, 3], 0.5), "n_features must be a whole"),
        (lambda: reg.ols([[1.0], [2], [4]], [1, 2, 3], names="x"), "names must be a sequence"),
        (lambda: reg.ridge([[1.0, 1], [2, 2]], [1, 2], 1e-300), "penalty is too small"),
        (lambda: reg.expected_loss_with_noise([[1e-200]], [0], [1], 0.0), "too small"),
        (lambda: reg.simple_regression([1e200, 2e200], [1e-200, 3e-200]), "slope is too small"),
        (lambda: reg.condition([0, 0], [[1e-9, 5e-10], [0, 1e-9]], [0.0]), "symmetric|semidef"),
    ],
)
def test_refusals_say_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


FOLDS = [np.array([0]), np.array([1])]


@pytest.mark.parametrize("folds", [FOLDS, [*FOLDS, np.array([1, 2])], [*FOLDS, np.array([2.0])]])
def test_folds_hold_each_row_once(folds):
    def path(X, y):
        return reg.ridge_path(X, y, [1.0])

    def fit(X, y):
        return reg.fit_standardized(reg.least_squares, X, y)

    data = [[0.0], [1], [2]], [1, 2, 4]
    with pytest.raises(ValueError, match="exactly once"):
        reg.choose_penalty(path, *data, folds)
    with pytest.raises(ValueError, match="exactly once"):
        reg.cross_validated_errors(fit, *data, folds)


def test_functions_that_return_something_else_are_told():
    data = [[0.0], [1], [2], [4]], [1, 2, 4, 3]
    folds = reg.k_folds(4, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="fit must return a Linear"):
        reg.cross_validated_errors(lambda X, y: y, *data, folds)
    with pytest.raises(ValueError, match="the result of solver must have length 1"):
        reg.fit_standardized(lambda X, y: y, *data)
    with pytest.raises(ValueError, match="the result of solve must be a matrix"):
        reg.choose_penalty(lambda X, y: y, *data, folds)
    assert math.isfinite(reg.choose_penalty(lambda X, y: np.ones((2, 1)), *data, folds)[1][0])


# Each of features, response, their units (powers of two, which round nothing), and the unit of it.
IN_UNITS = [
    (lambda X, y, a, b: reg.normal_equations(X, y), -1, 1),
    (lambda X, y, a, b: reg.ols(X, y).coefficients[1:], -1, 1),
    (lambda X, y, a, b: reg.robust_covariance(reg.ols(X, y))[1:, 1:], -2, 2),
    (lambda X, y, a, b: reg.robust_covariance(reg.ols(X, y), "HC2")[1:, 1:], -2, 2),
    (lambda X, y, a, b: reg.newey_west_covariance(reg.ols(X, y), 2)[1:, 1:], -2, 2),
    (lambda X, y, a, b: reg.ridge(X, y, 0.75 * a * a), -1, 1),
    (lambda X, y, a, b: reg.ridge_dual(X, y, 0.75 * a * a), -1, 1),
    (lambda X, y, a, b: reg.lasso(X, y, 0.75 * a * b), -1, 1),
]


@pytest.mark.parametrize(("computed", "by_features", "by_response"), IN_UNITS)
@given(seed=SEEDS, exponents=st.tuples(st.integers(-505, 505), st.integers(-1022, 500)))
def test_any_unit_is_right_or_refused(computed, by_features, by_response, seed, exponents):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 3))
    y = X @ [1.0, 2.0, -1.0] + rng.normal(size=14)
    a, b = (2.0**exponent for exponent in exponents)
    power = by_features * exponents[0] + by_response * exponents[1]
    if 0.75 * a * b in (0.0, math.inf) or abs(power) > 1000:
        return  # no floating-point number could be given, or come out
    try:
        got = computed(a * X, b * y, a, b)
    except ValueError as error:
        assert "floating-point" in str(error)  # noqa: PT017 -- both answers are right
    else:
        assert np.ldexp(got, -power) == pytest.approx(computed(X, y, 1.0, 1.0), rel=1e-6)
