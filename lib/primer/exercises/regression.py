"""Checks of the exercises of chapter 2: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import numpy as np

from primer import regression
from primer.notebook import Mistake, exercise
from primer.notebook.answers import Answer, as_array, explain


def _data(n: int = 12, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Make features of different scale and location, and a response with noise."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, p)) * np.array([1.0, 3.0, 0.5])[:p] + np.array([2.0, -1.0, 4.0])[:p]
    return X, 5 + X @ np.array([1.5, -0.5, 2.0])[:p] + rng.normal(size=n) * (1 + np.abs(X[:, 0]))


@exercise("2.1")
def check_line(line: Answer) -> None:
    """Check ``line(x, y)``, the intercept and the slope of the least-squares line."""
    X, y = _data(p=1)
    x = X[:, 0]
    right = regression.simple_regression(x, y)
    swapped = regression.simple_regression(y, x)
    slope_mixed = np.cov(x, y)[0, 1] / x.var()  # n − 1 above, n below
    explain(
        as_array(line(x, y), (2,)),
        right,
        {
            "the two numbers are in the wrong order: return the intercept, then the slope": right[
                ::-1
            ],
            "this is the regression of x on y: divide by the variance of x, the variable you "
            "predict from": swapped,
            "np.cov divides by n − 1 and np.var by n: use the same divisor for both": [
                y.mean() - slope_mixed * x.mean(),
                slope_mixed,
            ],
            "the intercept is ȳ − slope · x̄, not ȳ: the line passes through (x̄, ȳ), which need "
            "not lie above 0": [y.mean(), right.slope],
            "the deviations from the means are missing: this is the line through the origin": [
                0.0,
                x @ y / (x @ x),
            ],
        },
    )


@exercise("2.2")
def check_leave_one_out(leave_one_out: Answer) -> None:
    """Check ``leave_one_out(X, y)``, prediction errors from a single fit."""
    X, y = _data()
    table = regression.add_intercept(X)
    fit = regression.ols(X, y)
    room = 1 - regression.leverage(fit)
    without = regression.ols(X, y, intercept=False)
    explain(
        as_array(leave_one_out(table, y), (len(y),)),
        fit.residuals / room,
        {
            "these are the ordinary residuals: every observation still predicts itself": (
                fit.residuals
            ),
            "the root belongs to standardized residuals; here divide by 1 − h": (
                fit.residuals / np.sqrt(room)
            ),
            "you divided by h, the leverage; divide by what is left of it, 1 − h": (
                fit.residuals / (1 - room)
            ),
            "the sign is wrong: the error is y minus the prediction": -fit.residuals / room,
            "you multiplied by 1 − h; a point that pulls strongly has a small residual and a "
            "large error": fit.residuals * room,
            "the intercept's column was left out": regression.leave_one_out_residuals(without),
        },
    )


@exercise("2.3")
def check_robust_errors(robust_errors: Answer) -> None:
    """Check ``robust_errors(X, y)``, the HC0 standard errors."""
    X, y = _data()
    fit = regression.ols(X, y)
    covariance = regression.robust_covariance(fit, "HC0")
    bread, e = fit.inverse_gram, fit.residuals
    not_squared = np.diag(bread @ (fit.X.T * np.abs(e)) @ fit.X @ bread)
    explain(
        as_array(robust_errors(fit.X, y), (4,)),
        np.sqrt(np.diag(covariance)),
        {
            "these are the classical standard errors, which assume one variance for all": (
                fit.standard_errors
            ),
            "these are variances: take the root": np.diag(covariance),
            "the residuals in the middle must be squared": np.sqrt(not_squared),
            "the bread is missing on one side: (X'X)⁻¹ stands left and right of the middle": (
                np.sqrt(np.abs(np.diag(bread @ (fit.X.T * e**2) @ fit.X)))
            ),
            "this is HC1: leave out the factor n/(n − k)": np.sqrt(
                np.diag(regression.robust_covariance(fit, "HC1"))
            ),
            "this is HC3: leave out the leverages": np.sqrt(
                np.diag(regression.robust_covariance(fit, "HC3"))
            ),
        },
    )


@exercise("2.4")
def check_ridge_rows(ridge_rows: Answer) -> None:
    """Check ``ridge_rows(X, y, penalty)``, data on which plain least squares is ridge."""
    X, y = _data()
    penalty = 4.0
    answer = ridge_rows(X, y, penalty)
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise Mistake("return two arrays: the longer table and the longer response")
    table, response = np.asarray(answer[0], dtype=float), np.asarray(answer[1], dtype=float)
    if table.ndim != 2 or table.shape[1] != X.shape[1] or response.shape != (len(table),):
        raise Mistake(
            f"the table needs {X.shape[1]} columns and the response one number for each row, "
            f"got shapes {table.shape} and {response.shape}"
        )
    if len(table) == len(X):
        raise Mistake("no row was added: the penalty is one more observation for each feature")
    got = np.linalg.lstsq(table, response, rcond=None)[0]
    explain(
        got,
        regression.ridge(X, y, penalty),
        {
            "the added rows are λI; their squares then weigh λ². Take the root of λ": (
                regression.ridge(X, y, penalty**2)
            ),
            "the added rows are I, whatever λ is: scale them with the root of λ": (
                regression.ridge(X, y, 1.0)
            ),
            "the added responses must be 0: ridge says that each coefficient was seen to be 0": (
                regression.least_squares(
                    np.vstack([X, np.sqrt(penalty) * np.eye(3)]), np.concatenate([y, np.ones(3)])
                )
            ),
            "the added rows are −√λ or √λ in every entry; they must form √λ times the identity": (
                np.linalg.lstsq(
                    np.vstack([X, np.full((3, 3), np.sqrt(penalty))]),
                    np.concatenate([y, np.zeros(3)]),
                    rcond=None,
                )[0]
            ),
        },
    )


@exercise("2.5")
def check_informed_ridge(informed_ridge: Answer) -> None:
    """Check ``informed_ridge(X, y, guess, noise_variance, prior_variance)``."""
    X, y = _data()
    guess, noise, prior = np.array([1.0, -1.0, 3.0]), 2.0, 0.5
    right = guess + regression.ridge(X, y - X @ guess, noise / prior)
    explain(
        as_array(informed_ridge(X, y, guess, noise, prior), (3,)),
        right,
        {
            "this is ordinary ridge: it shrinks towards 0, not towards the guess": (
                regression.ridge(X, y, noise / prior)
            ),
            "the ratio is upside down: λ = noise variance / prior variance": (
                guess + regression.ridge(X, y - X @ guess, prior / noise)
            ),
            "this is the change from the guess; add the guess": (
                regression.ridge(X, y - X @ guess, noise / prior)
            ),
            "the guess was added, but its share was not taken out of y first": (
                guess + regression.ridge(X, y, noise / prior)
            ),
            "λ is the noise variance alone; it must be measured in prior variances": (
                guess + regression.ridge(X, y - X @ guess, noise)
            ),
        },
    )


@exercise("2.6")
def check_short_slope(short_slope: Answer) -> None:
    """Check ``short_slope(beta, gamma, x, z)``, what regression finds when z is left out."""
    rng = np.random.default_rng(6)
    z = rng.normal(1, 2, size=50)
    x = 0.7 * z + rng.normal(size=50) + 3
    beta, gamma = 2.0, -1.5
    delta = regression.simple_regression(x, z).slope
    other = regression.simple_regression(z, x).slope
    right = regression.simple_regression(x, beta * x + gamma * z).slope
    explain(
        as_array(short_slope(beta, gamma, x, z), ()),
        right,
        {
            "this is β itself: leaving z out does move the slope, because x and z vary together": (
                beta
            ),
            "divide by the variance of x, not of z: the question is how z moves when x does": (
                beta + gamma * other
            ),
            "the bias is γ times the slope of z on x; the factor γ is missing": beta + delta,
            "the sign of the bias is wrong": beta - gamma * delta,
            "use the slope of z on x, not their correlation": beta
            + gamma * np.corrcoef(x, z)[0, 1],
            "this is the bias alone; add β": gamma * delta,
        },
    )
