"""Checks of the exercises of chapter 2: each knows the usual mistakes and names the one made."""

from __future__ import annotations

import numpy as np

from primer import regression
from primer.notebook import ChoiceExercise, Mistake, NumberExercise, exercise, varied
from primer.notebook.answers import Answer, as_array, explain


def _data(seed: int, n: int = 12, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Make features of different scale and location, and a response with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.array([1.0, 3.0, 0.5])[:p] + np.array([2.0, -1.0, 4.0])[:p]
    return X, 5 + X @ np.array([1.5, -0.5, 2.0])[:p] + rng.normal(size=n) * (1 + np.abs(X[:, 0]))


@varied(tenths=(3, 4, 5, 6, 7, 8, 9), above=(1.2, 1.4, 1.5, 1.6, 1.8, 2, 2.5))
def check_second_exam(tenths: int = 8, above: float = 1.5) -> NumberExercise:
    """Ask what a first exam says of a second, at a correlation in tenths."""
    r = tenths / 10
    return NumberExercise(
        "2.1",
        question="Two exams have equal means and equal spread, and their results have a "
        f"correlation of {r:g}. A student was {above:g} standard deviations above the mean in the "
        "first. By how many standard deviations above the mean do you expect her to be in the "
        "second?",
        right=r * above,
        within=0.005,
        low=-10,
        high=10,
        expects="a number of standard deviations",
        wrong={
            above: "only if r were 1: part of a result is luck, which does not repeat",
            r: f"that is the value of one standard deviation; she is {above:g} of them above the "
            "mean",
            r**2 * above: f"r is squared here; the slope is r itself, {r:g}",
            above / r: f"{above:g} / {r:g} reads the line backward: results would run away from "
            "the mean",
            0: "that would be r = 0: the first exam would say nothing about the second",
        },
        otherwise=f"one standard deviation in the first exam is worth r = {r:g} in the second",
        because=f"{r:g} times {above:g}: she is expected above the mean, but nearer to it.",
    )


check_penalty = ChoiceExercise(
    "2.2",
    choices={"a": "0.7", "b": "1", "c": "1/0.7", "d": "0.49"},
    right="b",
    replies={
        "a": "0.7 would need the exponent -|y - Xw|²/(2·0.7); the program divides by 2 only",
        "b": "Times -2 the objective is |w|² + |y - Xw|²: a penalty of 1, whatever the noise.",
        "c": "1/0.7 would come from a prior of variance 0.7 and noise of variance 1",
        "d": "nothing squares the variance; compare |w|² + |y - Xw|² with the ridge objective",
    },
)


@exercise("2.3")
def check_leave_one_out(leave_one_out: Answer) -> None:
    """Check ``leave_one_out(X, y)``, prediction errors from a single fit."""
    for X, y in (_data(2), _data(7)):
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
                "these are the predictions; the error is y minus them": y - fit.residuals / room,
                "you multiplied by 1 − h; a point that pulls strongly has a small residual and a "
                "large error": fit.residuals * room,
                "the intercept's column was left out": regression.leave_one_out_residuals(without),
                "these are studentized residuals; the error itself is not divided by s": (
                    regression.studentized_residuals(fit)
                ),
                "these are standardized residuals; the error itself is divided by 1 − h alone": (
                    fit.residuals / np.sqrt(fit.residuals @ fit.residuals / fit.df_residual * room)
                ),
            },
        )


@exercise("2.4")
def check_robust_errors(robust_errors: Answer) -> None:
    """Check ``robust_errors(X, y)``, the HC0 standard errors."""
    for X, y in (_data(2), _data(7)):
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
                **{
                    f"this is {name}: leave out the leverages": np.sqrt(
                        np.diag(regression.robust_covariance(fit, name))
                    )
                    for name in ("HC2", "HC3")
                },
            },
        )


@exercise("2.5")
def check_ridge_rows(ridge_rows: Answer) -> None:
    """Check ``ridge_rows(X, y, penalty)``, data on which plain least squares is ridge."""
    for (X, y), penalty in ((_data(2), 3.0), (_data(7), 0.7)):
        answer = ridge_rows(X, y, penalty)
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise Mistake("return two arrays: the longer table and the longer response")
        rows, columns = len(np.atleast_1d(answer[0])), X.shape[1]
        if rows <= len(X):
            raise Mistake(
                f"the longer table has all {len(X)} rows of X and further ones of {columns} "
                f"numbers each; yours has {rows} in all"
            )
        table = as_array(answer[0], (rows, columns), "the longer table")
        response = as_array(answer[1], (rows,), "the longer response")
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
                "the added responses must be 0: ridge says that each weight was seen to be 0": (
                    regression.least_squares(
                        np.vstack([X, np.sqrt(penalty) * np.eye(3)]),
                        np.concatenate([y, np.ones(3)]),
                    )
                ),
                "the added rows hold √λ in every entry; they must form √λ times the identity": (
                    np.linalg.lstsq(
                        np.vstack([X, np.full((3, 3), np.sqrt(penalty))]),
                        np.concatenate([y, np.zeros(3)]),
                        rcond=None,
                    )[0]
                ),
            },
            "plain least squares on your table does not give the ridge weights: each new row says "
            "of one feature, with √λ in its place and 0 elsewhere, that its weight seemed to be 0",
        )


@exercise("2.6")
def check_informed_ridge(informed_ridge: Answer) -> None:
    """Check ``informed_ridge(X, y, guess, noise_variance, prior_variance)``."""
    for X, y in (_data(2), _data(7)):
        guess, noise, prior = np.array([1.0, -1.0, 3.0]), 1.8, 0.5
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
                "λ is the ratio of the variances, not of their roots": (
                    guess + regression.ridge(X, y - X @ guess, (noise / prior) ** 0.5)
                ),
                "the guess stands beside Xᵀy without its weight: there it counts λ times": (
                    np.linalg.solve(X.T @ X + noise / prior * np.eye(3), X.T @ y + guess)
                ),
                "the guess stands beside Xᵀy/σ² without its weight 1/τ²": np.linalg.solve(
                    X.T @ X / noise + np.eye(3) / prior, X.T @ y / noise + guess
                ),
            },
        )


@exercise("2.7")
def check_short_slope(short_slope: Answer) -> None:
    """Check ``short_slope(beta, gamma, x, z)``, what regression finds when z is left out."""
    for seed in (6, 8):
        rng = np.random.default_rng(seed)
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
                "this is β itself: leaving z out moves the slope, because x and z vary together": (
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
                "np.cov divides by n − 1, np.var by n unless told: write np.var(x, ddof=1)": (
                    beta + gamma * delta * len(x) / (len(x) - 1)
                ),
            },
        )
