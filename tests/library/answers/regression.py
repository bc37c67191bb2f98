"""Answers to the exercises on regression."""

import numpy as np

from primer import regression as reg
from primer.exercises import regression as exercises


def hat(X):
    return np.diag(reg.hat_matrix(X))


def residuals(X, y):
    return y - reg.project(X, y)


def mixed(x, y):
    slope = np.cov(x, y)[0, 1] / x.var()
    return y.mean() - slope * x.mean(), slope


def slope(x, y):
    return reg.simple_regression(x, y).slope


def sandwich(X, y, middle):
    bread = np.linalg.inv(X.T @ X)
    return np.sqrt(np.diag(bread @ (X.T * middle(residuals(X, y), X)) @ X @ bread))


def rows(block, response):
    return lambda X, y, lam: (
        np.vstack([X, block(X.shape[1], lam)]),
        np.concatenate([y, response(X.shape[1])]),
    )


def informed(X, y, guess, lam):
    return guess + reg.ridge(X, y - X @ guess, lam)


def left_out(X, y):
    errors = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        errors.append(y[i] - X[i] @ np.linalg.lstsq(X[others], y[others])[0])
    return errors


def posterior_mean(X, y, guess, noise, prior):
    precision = X.T @ X / noise + np.eye(len(guess)) / prior
    return np.linalg.solve(precision, X.T @ y / noise + guess / prior)


RIGHT = [
    (exercises.check_leave_one_out, left_out),
    (exercises.check_robust_errors, lambda X, y: sandwich(X, y, lambda e, X: e**2)),
    (exercises.check_ridge_rows, rows(lambda p, lam: np.sqrt(lam) * np.eye(p), np.zeros)),
    (  # any number of rows: two for each weight, of both signs
        exercises.check_ridge_rows,
        lambda X, y, lam: (
            np.vstack([X, np.kron(np.eye(X.shape[1]), [[1.0], [-1.0]]) * np.sqrt(lam / 2)]),
            np.concatenate([y, np.zeros(2 * X.shape[1])]),
        ),
    ),
    (  # the invented rows first
        exercises.check_ridge_rows,
        lambda X, y, lam: (
            np.vstack([np.sqrt(lam) * np.eye(X.shape[1]), X]).tolist(),
            [0.0] * X.shape[1] + y.tolist(),
        ),
    ),
    (exercises.check_informed_ridge, posterior_mean),
    (exercises.check_short_slope, lambda b, c, x, z: b + c * np.cov(x, z)[0, 1] / x.var(ddof=1)),
]

WRONG = [
    (exercises.check_leave_one_out, residuals, "ordinary residuals"),
    (
        exercises.check_leave_one_out,
        lambda X, y: residuals(X, y) / np.sqrt(1 - hat(X)),
        "root belongs to standardized",
    ),
    (
        exercises.check_leave_one_out,
        lambda X, y: reg.studentized_residuals(reg.ols(X[:, 1:], y)),
        "studentized",
    ),
    (
        exercises.check_leave_one_out,
        lambda X, y: (
            residuals(X, y) / np.sqrt(1 - hat(X)) / np.sqrt(np.sum(residuals(X, y) ** 2) / 8)
        ),
        "standardized residuals",
    ),
    (exercises.check_leave_one_out, lambda X, y: residuals(X, y) / hat(X), "divided by h"),
    (exercises.check_leave_one_out, lambda X, y: residuals(X, y) / (hat(X) - 1), "sign"),
    (exercises.check_leave_one_out, lambda X, y: residuals(X, y) * (1 - hat(X)), "multiplied"),
    (exercises.check_leave_one_out, lambda X, y: y - left_out(X, y), "y minus them"),
    (
        exercises.check_leave_one_out,
        lambda X, y: residuals(X[:, 1:], y) / (1 - hat(X[:, 1:])),
        "intercept's column",
    ),
    (
        exercises.check_robust_errors,
        lambda X, y: reg.ols(X, y, intercept=False).standard_errors,
        "classical",
    ),
    (
        exercises.check_robust_errors,
        lambda X, y: sandwich(X, y, lambda e, X: e**2) ** 2,
        "take the root",
    ),
    (
        exercises.check_robust_errors,
        lambda X, y: sandwich(X, y, lambda e, X: np.abs(e)),
        "must be squared",
    ),
    (
        exercises.check_robust_errors,
        lambda X, y: np.sqrt(
            np.abs(np.diag(np.linalg.inv(X.T @ X) @ (X.T * residuals(X, y) ** 2) @ X))
        ),
        "bread is missing",
    ),
    (
        exercises.check_robust_errors,
        lambda X, y: sandwich(X, y, lambda e, X: e**2 * len(X) / (len(X) - X.shape[1])),
        "this is HC1",
    ),
    (
        exercises.check_robust_errors,
        lambda X, y: sandwich(X, y, lambda e, X: (e / (1 - hat(X))) ** 2),
        "this is HC3",
    ),
    (
        exercises.check_robust_errors,
        lambda X, y: sandwich(X, y, lambda e, X: e**2 / (1 - hat(X))),
        "this is HC2",
    ),
    (
        exercises.check_robust_errors,
        np.errstate(invalid="ignore")(lambda X, y: sandwich(X, y, lambda e, X: e)),
        "root taken of a negative",
    ),
    (exercises.check_ridge_rows, rows(lambda p, lam: lam * np.eye(p), np.zeros), "weigh λ²"),
    (exercises.check_ridge_rows, rows(lambda p, lam: np.eye(p), np.zeros), "whatever λ is"),
    (
        exercises.check_ridge_rows,
        rows(lambda p, lam: np.sqrt(lam) * np.eye(p), np.ones),
        "responses must be 0",
    ),
    (
        exercises.check_ridge_rows,
        rows(lambda p, lam: np.full((p, p), np.sqrt(lam)), np.zeros),
        "times the identity",
    ),
    (exercises.check_ridge_rows, lambda X, y, lam: (X, y), "yours has 12 in all"),
    (
        exercises.check_ridge_rows,
        lambda X, y, lam: (np.vstack([X, np.eye(3)]), y),
        "longer response should be numbers of shape",
    ),
    (
        exercises.check_ridge_rows,
        lambda X, y, lam: (np.hstack([np.vstack([X, X]), np.ones((24, 1))]), np.append(y, y)),
        "longer table should be numbers of shape",
    ),
    (
        exercises.check_ridge_rows,
        rows(lambda p, lam: lam / 2 * np.eye(p), np.zeros),
        "each new row",
    ),
    (exercises.check_ridge_rows, lambda X, y, lam: ([["a"] * 3] * 15, y), "yours is"),
    (exercises.check_ridge_rows, lambda X, y, lam: (1.0, y), "yours has 1 in all"),
    (exercises.check_ridge_rows, reg.ridge, "return two arrays"),
    (
        exercises.check_ridge_rows,
        lambda X, y, lam: (X.T, y),
        "yours has 3 in all",
    ),
    (exercises.check_informed_ridge, lambda X, y, g, s, t: reg.ridge(X, y, s / t), "ordinary"),
    (exercises.check_informed_ridge, lambda X, y, g, s, t: informed(X, y, g, t / s), "upside"),
    (exercises.check_informed_ridge, lambda X, y, g, s, t: informed(X, y, g, s), "alone"),
    (exercises.check_informed_ridge, lambda X, y, g, s, t: informed(X, y, g, s**2), "is right"),
    (
        exercises.check_informed_ridge,
        lambda X, y, g, s, t: informed(X, y, g, np.sqrt(s / t)),
        "not of their roots",
    ),
    (
        exercises.check_informed_ridge,
        lambda X, y, g, s, t: np.linalg.solve(X.T @ X + s / t * np.eye(3), X.T @ y + g),
        "counts λ times",
    ),
    (
        exercises.check_informed_ridge,
        lambda X, y, g, s, t: np.linalg.solve(X.T @ X / s + np.eye(3) / t, X.T @ y / s + g),
        "without its weight 1/τ²",
    ),
    (
        exercises.check_informed_ridge,
        lambda X, y, g, s, t: informed(X, y, g, s / t) - g,
        "add the guess",
    ),
    (
        exercises.check_informed_ridge,
        lambda X, y, g, s, t: g + reg.ridge(X, y, s / t),
        "not taken out of y",
    ),
    (exercises.check_short_slope, lambda b, g, x, z: b, "β itself"),
    (exercises.check_short_slope, lambda b, g, x, z: b + g * slope(z, x), "variance of x"),
    (exercises.check_short_slope, lambda b, g, x, z: b + slope(x, z), "γ is missing"),
    (exercises.check_short_slope, lambda b, g, x, z: b - g * slope(x, z), "sign"),
    (
        exercises.check_short_slope,
        lambda b, g, x, z: b + g * np.corrcoef(x, z)[0, 1],
        "not their correlation",
    ),
    (exercises.check_short_slope, lambda b, g, x, z: g * slope(x, z), "bias alone"),
    (
        exercises.check_short_slope,
        lambda b, g, x, z: b + g * np.cov(x, z)[0, 1] / x.var(),
        "ddof=1",
    ),
]
