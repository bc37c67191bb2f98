"""Standard errors, tests, intervals and diagnostics against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.diagnostic import het_breuschpagan
from statsmodels.stats.outliers_influence import OLSInfluence, variance_inflation_factor

from primer import regression as reg

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 5), st.integers(3, 30)).map(lambda t: (t[0] + t[1], t[0]))
close = {"rtol": 1e-6, "atol": 1e-8}


def both(seed, size):
    """Fit one random problem by ours and by theirs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=size) + rng.normal(size=size[1])
    y = 1 + X @ rng.normal(size=size[1]) + rng.normal(size=size[0]) * rng.uniform(0.1, 3)
    assume(np.linalg.cond(reg.add_intercept(X)) < 1e4)
    return reg.ols(X, y), sm.OLS(y, sm.add_constant(X, has_constant="add")).fit()


@given(seeds, sizes, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_coefficients_errors_tests_and_intervals(seed, size, level):
    ours, theirs = both(seed, size)
    tests = reg.coefficient_tests(ours, level=level)
    np.testing.assert_allclose(ours.coefficients, theirs.params, **close)
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), **close)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse, **close)
    np.testing.assert_allclose(tests.t, theirs.tvalues, **close)
    np.testing.assert_allclose(tests.p_values, theirs.pvalues, **close)
    expected = theirs.conf_int(alpha=1 - level)
    np.testing.assert_allclose(np.column_stack([tests.low, tests.high]), expected, **close)
    assert ours.variance == pytest.approx(theirs.mse_resid)
    assert ours.r_squared == pytest.approx(theirs.rsquared)
    assert ours.adjusted_r_squared == pytest.approx(theirs.rsquared_adj)


@given(seeds, sizes)
def test_overall_f(seed, size):
    ours, theirs = both(seed, size)
    test = reg.f_test(ours)
    assert test.statistic == pytest.approx(theirs.fvalue, rel=1e-6)
    assert test.p_value == pytest.approx(theirs.f_pvalue, rel=1e-6, abs=1e-12)
    assert (test.df_numerator, test.df_denominator) == (theirs.df_model, theirs.df_resid)


@given(seeds, sizes)
def test_f_of_nested_models(seed, size):
    ours, theirs = both(seed, (size[0] + 1, size[1] + 1))
    smaller = reg.ols(ours.X[:, 1:-1], ours.y)
    test = reg.f_test(ours, smaller)
    statistic, p_value, q = theirs.compare_f_test(sm.OLS(ours.y, smaller.X).fit())
    assert test.statistic == pytest.approx(statistic, rel=1e-6, abs=1e-9)
    assert test.p_value == pytest.approx(p_value, rel=1e-6)
    assert test.df_numerator == q
    assert test.statistic == pytest.approx(reg.coefficient_tests(ours).t[-1] ** 2, rel=1e-6)


@given(seeds, sizes)
def test_predictions(seed, size):
    ours, theirs = both(seed, size)
    new = np.random.default_rng(seed).normal(size=(4, size[1]))
    frame = theirs.get_prediction(sm.add_constant(new, has_constant="add")).summary_frame(0.1)
    for of, name in [("observation", "obs"), ("mean", "mean")]:
        prediction = reg.predict(ours, new, 0.9, of=of)
        np.testing.assert_allclose(prediction.mean, frame["mean"], **close)
        np.testing.assert_allclose(prediction.low, frame[f"{name}_ci_lower"], **close)
        np.testing.assert_allclose(prediction.high, frame[f"{name}_ci_upper"], **close)


@given(seeds, sizes)
def test_influence(seed, size):
    ours, theirs = both(seed, size)
    influence = OLSInfluence(theirs)
    assume(influence.hat_matrix_diag.max() < 0.999)
    for got, expected in [
        (reg.leverage(ours), influence.hat_matrix_diag),
        (reg.standardized_residuals(ours), influence.resid_studentized_internal),
        (reg.studentized_residuals(ours), influence.resid_studentized_external),
        (reg.cooks_distance(ours), influence.cooks_distance[0]),
        (reg.leave_one_out_residuals(ours), influence.resid_press),
    ]:
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


@given(seeds, sizes, st.sampled_from(["HC0", "HC1", "HC2", "HC3"]))
def test_robust_errors(seed, size, kind):
    ours, theirs = both(seed, size)
    assume(reg.leverage(ours).max() < 0.999)
    covariance = reg.robust_covariance(ours, kind)
    np.testing.assert_allclose(covariance, getattr(theirs, f"cov_{kind}"), rtol=1e-5, atol=1e-8)
    used = reg.coefficient_tests(ours, covariance)
    np.testing.assert_allclose(used.standard_errors, getattr(theirs, f"{kind}_se"), rtol=1e-5)


@given(seeds, sizes, st.integers(0, 3))
def test_newey_west(seed, size, lags):
    ours, theirs = both(seed, (size[0] + 4, size[1]))
    expected = theirs.get_robustcov_results("HAC", maxlags=lags).cov_params()
    np.testing.assert_allclose(reg.newey_west_covariance(ours, lags), expected, **close)


@given(seeds, sizes)
def test_sandwich_of_equal_variances_is_the_classical_covariance(seed, size):
    ours, _ = both(seed, size)
    n = len(ours.y)
    for omega in (np.full(n, 2.0), 2 * np.eye(n)):
        np.testing.assert_allclose(reg.sandwich(ours.X, omega), 2 * ours.inverse_gram, **close)


@given(seeds, sizes)
def test_variance_inflation(seed, size):
    ours, theirs = both(seed, size)
    expected = [
        variance_inflation_factor(theirs.model.exog, j) if size[1] > 1 else 1.0
        for j in range(1, size[1] + 1)
    ]
    np.testing.assert_allclose(reg.variance_inflation(ours.X[:, 1:]), expected, rtol=1e-6)


@given(seeds, sizes)
def test_tests_of_the_residuals(seed, size):
    ours, theirs = both(seed, size)
    statistic, p_value, _, _ = het_breuschpagan(theirs.resid, theirs.model.exog)
    test = reg.breusch_pagan(ours)
    assert test.statistic == pytest.approx(statistic, rel=1e-6, abs=1e-9)
    assert test.p_value == pytest.approx(p_value, rel=1e-6, abs=1e-9)


def test_a_fit_without_intercept():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 2))
    y = rng.normal(size=12)
    ours, theirs = reg.ols(X, y, intercept=False), sm.OLS(y, X).fit()
    np.testing.assert_allclose(ours.standard_errors, theirs.bse)
    np.testing.assert_allclose(reg.predict(ours, X).mean, theirs.fittedvalues)
    with pytest.raises(ValueError, match="fit with an intercept"):
        reg.f_test(ours)
    with pytest.raises(ValueError, match="fit with an intercept"):
        _ = ours.adjusted_r_squared
    with pytest.raises(ValueError, match="needs an intercept"):
        reg.breusch_pagan(ours)


line = reg.ols([[0.0], [1.0], [2.0], [4.0]], [1.0, 3.0, 2.0, 5.0], names=["dose"])
full = reg.ols([[0.0], [1.0]], [1.0, 3.0])
exact = reg.ols([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
alone = reg.ols([[0.0], [0.0], [0.0], [1.0]], [1.0, 3.0, 2.0, 9.0])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: reg.ols([[1.0]], [1.0]), "2 columns cannot be independent with 1 observations"),
        (lambda: reg.ols([[5.0], [5.0], [5.0]], [1, 2, 3], ["age"]), "column age is constant"),
        (
            lambda: reg.ols([[1, 2], [2, 4], [3, 6], [5, 10]], [1, 2, 3, 4], ["cm", "half cm"]),
            "column half cm is a linear combination of cm:",
        ),
        (
            lambda: reg.ols([[1, 0], [0, 1], [1, 0], [0, 1]], [1, 2, 3, 4], ["yes", "no"]),
            "column no is a linear combination of intercept, yes:",
        ),
        (lambda: full.variance, "no degree of freedom"),
        (lambda: reg.coefficient_tests(full), "no degree of freedom"),
        (lambda: reg.coefficient_tests(exact), "the fit is exact"),
        (lambda: reg.robust_covariance(full), "no degree of freedom"),
        (
            lambda: reg.robust_covariance(line, "HC4"),
            "one of 'HC0', 'HC1', 'HC2', 'HC3', got 'HC4'",
        ),
        (lambda: reg.robust_covariance(alone), r"observations \[3\] have leverage 1"),
        (lambda: reg.cooks_distance(alone), r"observations \[3\] have leverage 1"),
        (lambda: reg.newey_west_covariance(line, 4), "between 0 and 3"),
        (lambda: reg.newey_west_covariance(line, -1), "lags must be a whole number ≥ 0"),
        (lambda: reg.coefficient_tests(line, level=1.0), "strictly between 0 and 1"),
        (lambda: reg.coefficient_tests(line, np.eye(3)), "2×2 matrix"),
        (lambda: reg.coefficient_tests(line, -np.eye(2)), "positive variances"),
        (lambda: reg.f_test(line, line), "not nested"),
        (lambda: reg.f_test(line, reg.ols([[1], [0], [0], [0]], line.y)), "not nested"),
        (lambda: reg.f_test(line, full), "same response"),
        (lambda: reg.predict(line, [[1.0, 2.0]]), "the fit has 1 features, got 2"),
        (
            lambda: reg.predict(line, [[1.0]], of="median"),
            "of must be one of 'observation', 'mean'",
        ),
        (lambda: reg.studentized_residuals(reg.ols([[0], [1], [3]], [1, 3, 2])), "two more"),
        (lambda: reg.variance_inflation([[1, 2], [2, 4], [3, 6], [4, 8]]), "combination of x1"),
        (lambda: reg.sandwich([[1.0], [1.0]], [1.0]), "2 variances or 2×2"),
        (lambda: reg.partial_out([1.0], [[1.0], [2.0]]), "x must have length 2"),
    ],
)
def test_refusals_say_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_a_table_prints_one_line_for_each_coefficient():
    text = str(reg.coefficient_tests(line)).splitlines()
    assert [row.split()[0] for row in text] == ["estimate", "intercept", "dose"]
