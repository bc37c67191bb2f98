"""Least squares against numpy.linalg, its theorems and its refusals."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from primer import regression as reg

seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(1, 6), st.integers(1, 25)).map(lambda t: (t[0] + t[1], t[0]))


def problem(seed, size, noise=1.0):
    """Draw a table of normal features and a response."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=size) * rng.uniform(0.1, 10, size[1])
    return X, X @ rng.normal(size=size[1]) + noise * rng.normal(size=size[0])


# --- QR -------------------------------------------------------------------------------------------


@given(seeds, sizes)
def test_qr_agrees_with_numpy_up_to_signs(seed, size):
    X, _ = problem(seed, size)
    Q, R = reg.householder_qr(X)
    expected_Q, expected_R = np.linalg.qr(X)
    signs = np.sign(np.diag(R) * np.diag(expected_R))
    np.testing.assert_allclose(Q, expected_Q * signs, atol=1e-9)
    np.testing.assert_allclose(R, expected_R * signs[:, None], atol=1e-9)
    np.testing.assert_allclose(Q @ R, X, atol=1e-11)


def test_qr_of_a_zero_column_has_a_zero_on_the_diagonal():
    Q, R = reg.householder_qr([[1.0, 0.0], [2.0, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(Q @ R, [[1, 0], [2, 0], [2, 0]], atol=1e-15)
    assert R[1, 1] == 0


# --- coefficients ---------------------------------------------------------------------------------


@given(seeds, sizes)
def test_least_squares_agrees_with_lstsq(seed, size):
    X, y = problem(seed, size)
    expected = np.linalg.lstsq(X, y, rcond=None)[0]
    scale = 1e-8 * (1 + np.abs(expected).max()) * np.linalg.cond(X)
    np.testing.assert_allclose(reg.least_squares(X, y), expected, atol=scale)
    np.testing.assert_allclose(reg.normal_equations(X, y), expected, atol=scale * np.linalg.cond(X))


@given(seeds, sizes, st.integers(1, 4))
def test_many_responses_at_once_are_each_alone(seed, size, m):
    X, _ = problem(seed, size)
    Y = np.random.default_rng(seed).normal(size=(size[0], m))
    together = reg.least_squares(X, Y)
    for j in range(m):
        np.testing.assert_allclose(together[:, j], reg.least_squares(X, Y[:, j]), atol=1e-9)


def test_qr_keeps_the_digits_that_the_normal_equations_lose():
    t = np.linspace(0, 1, 40)
    X = t[:, None] ** np.arange(8)
    truth = np.ones(8)
    y = X @ truth
    by_qr = np.abs(reg.least_squares(X, y) - truth).max()
    by_normal = np.abs(reg.normal_equations(X, y) - truth).max()
    assert by_qr < 1e-9
    assert by_normal > 100 * by_qr


@given(seeds, sizes)
def test_gradient_is_the_slope_of_the_loss_and_zero_at_the_fit(seed, size):
    X, y = problem(seed, size)
    beta = np.random.default_rng(seed).normal(size=size[1])
    numeric = approx_fprime(beta, lambda b: np.mean((y - X @ b) ** 2), 1e-7)
    gradient = reg.mean_squared_error_gradient(X, y, beta)
    np.testing.assert_allclose(gradient, numeric, atol=1e-4 * (1 + np.abs(gradient).max()))
    at_fit = reg.mean_squared_error_gradient(X, y, reg.least_squares(X, y))
    np.testing.assert_allclose(at_fit, 0, atol=1e-9 * np.abs(X).max() * (1 + np.abs(y).max()))


@given(seeds, sizes)
def test_projection(seed, size):
    X, y = problem(seed, size)
    H = reg.hat_matrix(X)
    np.testing.assert_allclose(H @ y, reg.project(X, y), atol=1e-9)
    np.testing.assert_allclose(H @ H, H, atol=1e-11)
    np.testing.assert_allclose(H, H.T, atol=1e-14)
    assert np.trace(H) == pytest.approx(size[1])
    np.testing.assert_allclose(X.T @ (y - H @ y), 0, atol=1e-9 * (1 + np.abs(X).max() ** 2) * 30)


@given(seeds, st.integers(2, 40))
def test_simple_regression_is_the_general_one(seed, n):
    X, y = problem(seed, (n, 1))
    assume(np.ptp(X) > 1e-3)
    line = reg.simple_regression(X[:, 0], y)
    np.testing.assert_allclose(line, reg.least_squares(reg.add_intercept(X), y), atol=1e-6)
    np.testing.assert_allclose(line[::-1], np.polyfit(X[:, 0], y, 1), atol=1e-6)


@given(seeds, sizes)
def test_partialling_out_gives_the_coefficient(seed, size):
    X, y = problem(seed, (size[0] + 1, size[1] + 1))
    left = reg.partial_out(X[:, 0], X[:, 1:])
    assume(left @ left > 1e-6)
    assert left @ y / (left @ left) == pytest.approx(reg.least_squares(X, y)[0], rel=1e-6, abs=1e-6)


# --- sums of squares ------------------------------------------------------------------------------


@given(seeds, sizes)
def test_sums_of_squares_add_up_with_an_intercept(seed, size):
    X, y = problem(seed, (size[0] + 2, size[1]))
    sums = reg.sums_of_squares(y, reg.project(reg.add_intercept(X), y))
    assert sums.residual + sums.explained == pytest.approx(sums.total)


@given(seeds, sizes)
def test_sums_of_squares_differ_by_the_cross_term(seed, size):
    rng = np.random.default_rng(seed)
    y, fitted = rng.normal(size=(2, size[0]))
    sums = reg.sums_of_squares(y, fitted)
    cross = 2 * (y - fitted) @ (fitted - y.mean())
    assert sums.residual + sums.explained + cross == pytest.approx(sums.total)


def test_r_squared_agrees_with_scikit_learn():
    from sklearn.metrics import r2_score

    rng = np.random.default_rng(0)
    y, fitted = rng.normal(size=(2, 20))
    assert reg.r_squared(y, fitted) == pytest.approx(r2_score(y, fitted))
    assert reg.r_squared(y, np.full(20, y.mean())) == 0


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solve", [reg.least_squares, reg.normal_equations, reg.project])
@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (np.empty((0, 2)), [], "X is empty"),
        ([1.0, 2.0], [1.0, 2.0], "a table with one row"),
        (
            [[1.0], [np.nan]],
            [1.0, 2.0],
            r"X must be finite, got nan at \[1, 0\]; remove or fill inc",
        ),
        ([[1.0], [2.0]], [1.0, np.inf], r"y must be finite, got inf at \[1\]; remove or fill inc"),
        ([[1.0], [2.0]], [1.0], "X has 2 observations"),
        ([[1j], [2.0]], [1.0, 2.0], "X must hold real numbers"),
        ([["a"], ["b"]], [1.0, 2.0], "X must hold numbers"),
        ([[1.0, 2.0]], [1.0], "2 columns cannot be independent with 1 observations"),
        ([[0.0], [0.0]], [1.0, 2.0], "column x1 is zero everywhere"),
    ],
)
def test_bad_tables_are_refused(solve, X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        solve(X, y)


@given(seeds, st.integers(2, 5), st.integers(0, 20))
def test_dependent_columns_are_named(seed, p, extra):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(p + 3 + extra, p))
    weights = rng.uniform(0.5, 2, 2)
    X = np.column_stack([X, X[:, [0, p - 1]] @ weights])
    names = [f"f{j}" for j in range(p)] + ["copy"]
    with pytest.raises(ValueError, match=f"column copy is a linear combination of f0, f{p - 1}:"):
        reg.least_squares(X, X[:, 0], names)


def test_scale_of_a_column_is_no_dependence():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) * [1e-9, 1.0, 1e9]
    truth = np.array([1e9, 1.0, 1e-9])
    np.testing.assert_allclose(reg.least_squares(X, X @ truth), truth, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: reg.simple_regression([2, 2], [1, 3]), "two different x, but all 2 are 2"),
        (lambda: reg.simple_regression([], []), "x is empty"),
        (lambda: reg.simple_regression([1, 2], [1]), "y must have length 2, got length 1"),
        (lambda: reg.simple_regression([1], [1]), "two different x, but all 1 are 1"),
        (lambda: reg.r_squared([1, 1], [1, 2]), "y is constant"),
        (lambda: reg.adjusted_r_squared([1, 2], [1, 2], 1), "leave 0 degrees of freedom"),
        (
            lambda: reg.adjusted_r_squared([1, 2], [1, 2], -1),
            "n_features must be a whole number ≥ 0",
        ),
        (
            lambda: reg.mean_squared_error_gradient([[1.0]], [1.0], [1, 2]),
            "coefficients must have length 1, got length 2",
        ),
        (lambda: reg.householder_qr([[1.0, 2.0]]), "at least as many rows as columns"),
        (lambda: reg.least_squares([[1.0], [2.0]], [1, 2], ["a", "b"]), "1 columns, got 2 names"),
    ],
)
def test_refusals_say_what_is_wrong(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
