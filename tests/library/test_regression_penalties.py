"""Ridge in all its forms, the lasso, the honest comparison: against scikit-learn and theorems."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from primer import regression as reg

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(2, 25), st.integers(1, 25))  # p may exceed n
penalties = st.floats(1e-3, 1e3)


def problem(seed, size):
    """Draw features and a response."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=size)
    return X, X @ rng.normal(size=size[1]) + rng.normal(size=size[0])


# --- ridge ----------------------------------------------------------------------------------------


@given(seeds, sizes, penalties)
def test_all_forms_of_ridge_agree_with_scikit_learn(seed, size, penalty):
    X, y = problem(seed, size)
    expected = Ridge(alpha=penalty, fit_intercept=False, solver="svd").fit(X, y).coef_
    close = {"rtol": 1e-6, "atol": 1e-8}
    np.testing.assert_allclose(reg.ridge(X, y, penalty), expected, **close)
    np.testing.assert_allclose(reg.ridge_dual(X, y, penalty), expected, **close)
    np.testing.assert_allclose(reg.ridge_path(X, y, [penalty])[0], expected, **close)
    gamma = np.sqrt(penalty) * np.eye(size[1])
    np.testing.assert_allclose(reg.tikhonov(X, y, gamma), expected, **close)
    np.testing.assert_allclose(reg.ridge_posterior(X, y, penalty).mean, expected, **close)
    posterior = reg.condition(*reg.ridge_joint(X, penalty), y)
    np.testing.assert_allclose(posterior.mean, expected, **close)
    covariance = reg.ridge_posterior(X, y, penalty).covariance
    np.testing.assert_allclose(posterior.covariance, covariance, rtol=1e-6, atol=1e-7)


@given(seeds, sizes, penalties, st.floats(0.1, 10))
def test_only_the_ratio_of_the_variances_shrinks(seed, size, noise, prior):
    X, y = problem(seed, size)
    mean = reg.ridge_posterior(X, y, noise, prior).mean
    np.testing.assert_allclose(mean, reg.ridge(X, y, noise / prior), rtol=1e-6, atol=1e-8)


def test_no_penalty_is_least_squares_and_refuses_dependent_columns():
    X, y = problem(0, (9, 3))
    np.testing.assert_array_equal(reg.ridge(X, y, 0), reg.least_squares(X, y))
    with pytest.raises(ValueError, match="linear combination"):
        reg.ridge(X[:, [0, 0]], y, 0)


@given(seeds, sizes, penalties)
def test_filter_factors_give_the_fit_and_its_degrees_of_freedom(seed, size, penalty):
    X, y = problem(seed, size)
    U, sigma, _ = np.linalg.svd(X, full_matrices=False)
    kept = reg.filter_factors(sigma, penalty)
    np.testing.assert_allclose(U * kept @ U.T @ y, X @ reg.ridge(X, y, penalty), atol=1e-7)
    smoother = X @ np.linalg.solve(X.T @ X + penalty * np.eye(size[1]), X.T)
    assert kept.sum() == pytest.approx(np.trace(smoother), abs=1e-8)


def test_a_direction_without_data_is_dropped_even_without_penalty():
    np.testing.assert_array_equal(reg.filter_factors([2.0, 0.0], 0.0), [1.0, 0.0])


@given(seeds, st.integers(1, 5), penalties)
def test_ridge_risk_is_the_algebra_of_a_linear_estimator(seed, p, penalty):
    X, _ = problem(seed, (p + 8, p))
    w = np.random.default_rng(seed).normal(size=p)
    linear = np.linalg.solve(X.T @ X + penalty * np.eye(p), X.T)  # ŵ = linear @ y
    risk = reg.ridge_risk(X, w, 2.0, [penalty])
    assert risk.squared_bias[0] == pytest.approx(np.sum((linear @ X @ w - w) ** 2))
    assert risk.variance[0] == pytest.approx(2.0 * np.sum(linear**2))


@given(seeds, sizes)
def test_tikhonov_is_where_the_gradient_vanishes(seed, size):
    X, y = problem(seed, size)
    gamma = np.random.default_rng(seed).normal(size=(size[1] + 2, size[1]))
    assume(np.linalg.cond(gamma) < 1e3)
    w = torch.tensor(reg.tikhonov(X, y, gamma), requires_grad=True)
    loss = ((torch.tensor(y) - torch.tensor(X) @ w) ** 2).sum()
    loss = loss + ((torch.tensor(gamma) @ w) ** 2).sum()
    (gradient,) = torch.autograd.grad(loss, w)
    np.testing.assert_allclose(gradient, 0, atol=1e-6)


@given(seeds, sizes, st.floats(0.1, 10))
def test_log_posterior_peaks_at_the_posterior_mean(seed, size, noise):
    X, y = problem(seed, size)
    peak = reg.ridge_posterior(X, y, noise)
    top = reg.ridge_log_posterior(X, y, peak.mean, noise)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        step = 0.1 * rng.normal(size=size[1])
        drop = step @ np.linalg.solve(peak.covariance, step) / 2  # exact: the density is normal
        there = reg.ridge_log_posterior(X, y, peak.mean + step, noise)
        assert there == pytest.approx(top - drop, rel=1e-6, abs=1e-6)


# --- Gaussian conditioning ------------------------------------------------------------------------


@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_conditioning_agrees_with_the_precision_matrix(seed, hidden, seen):
    rng = np.random.default_rng(seed)
    d = hidden + seen
    root = rng.normal(size=(d, d + 3))
    sigma, mu, y = root @ root.T, rng.normal(size=d), rng.normal(size=seen)
    assume(np.linalg.cond(sigma) < 1e6)
    precision = np.linalg.inv(sigma)
    ours = reg.condition(mu, sigma, y)
    covariance = np.linalg.inv(precision[:hidden, :hidden])
    mean = mu[:hidden] - covariance @ precision[:hidden, hidden:] @ (y - mu[hidden:])
    np.testing.assert_allclose(ours.covariance, covariance, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ours.mean, mean, rtol=1e-5, atol=1e-7)
    A = reg.decorrelating_matrix(sigma[:hidden, hidden:], sigma[hidden:, hidden:])
    left = sigma[:hidden, hidden:] - A @ sigma[hidden:, hidden:]
    np.testing.assert_allclose(left, 0, atol=1e-8)


# --- noise and dropout ----------------------------------------------------------------------------


def test_dropout_loss_is_the_mean_over_all_masks():
    X, y = problem(5, (2, 3))
    w, keep = np.array([1.0, -2.0, 0.5]), 0.3
    total = 0.0
    for bits in np.ndindex(*(2,) * 6):
        mask = np.reshape(bits, (2, 3))
        weight = keep ** mask.sum() * (1 - keep) ** (6 - mask.sum())
        total += weight * np.sum((y - (mask * X) @ w) ** 2)
    assert reg.expected_loss_with_dropout(X, y, w, keep) == pytest.approx(total)


@given(seeds, st.integers(1, 4), st.floats(0.1, 0.9))
def test_dropout_regression_minimizes_the_expected_loss(seed, p, keep):
    X, y = problem(seed, (p + 3, p))
    w = torch.tensor(reg.dropout_regression(X, y, keep), requires_grad=True)
    Xt, yt = torch.tensor(X), torch.tensor(y)
    loss = ((yt - keep * Xt @ w) ** 2).sum() + keep * (1 - keep) * ((Xt**2).sum(0) * w**2).sum()
    assert loss.item() == pytest.approx(
        reg.expected_loss_with_dropout(X, y, w.detach().numpy(), keep)
    )
    np.testing.assert_allclose(torch.autograd.grad(loss, w)[0], 0, atol=1e-8)


def test_noise_loss_is_exact_for_noise_of_two_values():
    # ±σ with equal chance has the same first two moments as the normal distribution.
    X, y = problem(6, (2, 2))
    w, deviation = np.array([1.5, -0.5]), 0.7
    shaken = [
        np.sum(((X + deviation * np.reshape(signs, (2, 2))) @ w - y) ** 2)
        for signs in 2 * np.array(list(np.ndindex(2, 2, 2, 2))) - 1
    ]
    assert reg.expected_loss_with_noise(X, y, w, deviation) == pytest.approx(np.mean(shaken))


# --- lasso ----------------------------------------------------------------------------------------


@given(seeds, sizes, st.floats(0.02, 1.2))
def test_lasso_agrees_with_scikit_learn(seed, size, fraction):
    X, y = problem(seed, size)
    penalty = fraction * reg.lasso_largest_penalty(X, y)
    ours = reg.lasso(X, y, penalty, tolerance=1e-13)
    theirs = Lasso(alpha=penalty, fit_intercept=False, tol=1e-13, max_iter=200_000).fit(X, y).coef_
    objective = lambda w: np.mean((y - X @ w) ** 2) / 2 + penalty * np.abs(w).sum()  # noqa: E731
    assert objective(ours) == pytest.approx(objective(theirs), rel=1e-9)
    np.testing.assert_allclose(X @ ours, X @ theirs, atol=1e-4 * (1 + np.abs(y).max()))
    if fraction > 1:
        assert not ours.any()


@given(seeds, sizes)
def test_lasso_meets_its_optimality_conditions(seed, size):
    X, y = problem(seed, size)
    penalty = 0.3 * reg.lasso_largest_penalty(X, y)
    w = reg.lasso(X, y, penalty, tolerance=1e-14)
    pull = X.T @ (y - X @ w) / size[0]
    assert np.abs(pull).max() <= penalty * (1 + 1e-4)
    np.testing.assert_allclose(pull[w != 0], penalty * np.sign(w[w != 0]), rtol=1e-4)


def test_lasso_path_is_the_lasso_at_each_penalty():
    X, y = problem(1, (30, 8))
    lam = reg.lasso_largest_penalty(X, y) * np.array([0.1, 0.9, 0.4])
    for row, penalty in zip(reg.lasso_path(X, y, lam), lam, strict=True):
        np.testing.assert_allclose(row, reg.lasso(X, y, penalty), atol=1e-3)


def test_lasso_says_when_it_does_not_converge(monkeypatch):
    X, y = problem(1, (30, 8))
    monkeypatch.setattr("primer.regression.sparsity.MAX_SWEEPS", 1)
    with pytest.raises(RuntimeError, match="nearly collinear"):
        reg.lasso(X, y, 1e-3, tolerance=1e-15)


def test_a_zero_column_gets_a_zero_coefficient():
    assert reg.lasso([[1.0, 0.0], [2.0, 0.0]], [1.0, 2.0], 0.1)[1] == 0


# --- validation -----------------------------------------------------------------------------------


def test_cross_validation_and_choice_agree_with_scikit_learn():
    X, y = problem(2, (60, 4))
    X = X * [1, 10, 0.1, 3] + 5
    grid = [0.1, 3.0, 50.0, 400.0]
    splitter = KFold(5, shuffle=True, random_state=0)
    folds = [test for _, test in splitter.split(X)]
    pipeline = make_pipeline(StandardScaler(), Ridge(alpha=3.0))
    expected = (y - cross_val_predict(pipeline, X, y, cv=splitter)) ** 2
    fit = lambda A, b: reg.fit_standardized(lambda F, r: reg.ridge(F, r, 3.0), A, b)  # noqa: E731
    np.testing.assert_allclose(reg.cross_validated_errors(fit, X, y, folds), expected, rtol=1e-8)
    search = GridSearchCV(
        pipeline, {"ridge__alpha": grid}, cv=splitter, scoring="neg_mean_squared_error"
    ).fit(X, y)
    best, errors = reg.choose_penalty(lambda F, r: reg.ridge_path(F, r, grid), X, y, folds)
    np.testing.assert_allclose(errors, -search.cv_results_["mean_test_score"], rtol=1e-8)
    assert best == search.best_index_
    model = reg.fit_with_chosen_penalty(
        lambda F, r: reg.ridge_path(F, r, [grid[best]]), X, y, 5, np.random.default_rng(0)
    )
    np.testing.assert_allclose(model.predict(X), search.predict(X), rtol=1e-8)


@given(st.integers(2, 50), seeds)
def test_folds_hold_each_observation_once(n, seed):
    k = 2 + seed % (n - 1)
    folds = reg.k_folds(n, k, np.random.default_rng(seed))
    assert sorted(np.concatenate(folds)) == list(range(n))
    assert max(map(len, folds)) - min(map(len, folds)) <= 1


# --- refusals -------------------------------------------------------------------------------------

X, y = [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: reg.ridge(X, y, -1.0), "penalty must be a finite number, 0 or larger, got -1.0"),
        (lambda: reg.ridge(X, y, np.nan), "penalty must be one finite number, got nan"),
        (lambda: reg.ridge(X, y[:2], 1.0), "X has 3 observations"),
        (lambda: reg.ridge([[np.nan]], [1.0], 1.0), "X must be finite"),
        (lambda: reg.ridge_dual(X, y, 0.0), "penalty must be a finite number above 0"),
        (lambda: reg.ridge_path(X, y, [1.0, -1.0]), "each penalty must be above 0, got -1"),
        (lambda: reg.filter_factors([1.0], -1.0), "0 or larger"),
        (lambda: reg.ridge_risk([[1, 1], [1, 1]], [1, 1], 1.0, [1.0]), "dependent"),
        (lambda: reg.ridge_risk(X, [1, 1], -1.0, [1.0]), "noise_variance must be"),
        (lambda: reg.tikhonov(X, y, [[1.0]]), "matrix must have 2 columns"),
        (lambda: reg.tikhonov([[1.0, 1.0]], [1.0], [[1.0, 1.0]]), "linear combination"),
        (lambda: reg.ridge_posterior(X, y, 0.0), "noise_variance must be a finite number above 0"),
        (lambda: reg.ridge_posterior(X, y, 1.0, -2.0), "prior_variance must be"),
        (lambda: reg.condition([0, 0], np.eye(2), [1.0, 1.0]), "fewer than 2 values"),
        (lambda: reg.condition([0, 0], np.diag([1.0, 0.0]), [1.0]), "positive definite"),
        (lambda: reg.decorrelating_matrix([[1.0]], [[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (lambda: reg.decorrelating_matrix([[1.0]], np.eye(2)), "do not match"),
        (lambda: reg.expected_loss_with_noise(X, y, [1, 1], -0.1), "deviation must be"),
        (lambda: reg.dropout_matrix(X, 1.0), "strictly between 0 and 1"),
        (lambda: reg.dropout_regression(X, y, 0.0), "strictly between 0 and 1"),
        (lambda: reg.lasso(X, y, 0.0), "penalty must be a finite number above 0"),
        (lambda: reg.soft_threshold([1.0], -1.0), "threshold must be"),
        (lambda: reg.k_folds(3, 4, np.random.default_rng(0)), "between 2 and the 3"),
        (
            lambda: reg.fit_standardized(reg.least_squares, [[1.0], [1.0]], [1.0, 2.0]),
            r"columns \[0\] are constant",
        ),
        (
            lambda: reg.cross_validated_errors(
                lambda X, y: reg.Linear(0.0, np.zeros(2)), X, y, [np.array([0]), np.array([1])]
            ),
            "each of 0 … 2 exactly once",
        ),
    ],
)
def test_refusals_say_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
