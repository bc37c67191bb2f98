r"""Honest comparison: standardize inside each fold, choose the penalty inside, judge outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from primer.inputs import Count, Dim, as_array, checked, matrix, vector
from primer.inputs.magnitude import scaled
from primer.regression.inputs import Design, single_response

Solver = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Takes standardized features (n, p) and a centered response (n,), returns coefficients (p,)."""

PathSolver = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""The same for several penalties at once: returns one row of coefficients for each, (m, p)."""


class Linear(NamedTuple):
    """A linear predictor in the units of the data."""

    intercept: float
    coefficients: Float[np.ndarray, " p"]

    @checked
    def predict(self, X: Design) -> Float[np.ndarray, " n"]:
        """Return the predictions for rows of features."""
        weights = vector("coefficients", self.coefficients)
        if X.shape[1] != len(weights):
            raise ValueError(f"X must have {len(weights)} columns, got {X.shape[1]}")
        return self.intercept + X @ weights


def _scaled(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return standardized features, the centered response, and the features' means and scales."""
    parts, unit = scaled(X, axis=0)  # no square overflows
    means, scales = parts.mean(axis=0) * unit, parts.std(axis=0) * unit
    if constant := np.flatnonzero(scales <= 1e-12 * np.abs(X).max(axis=0)).tolist():
        raise ValueError(f"columns {constant} are constant here, so they cannot be standardized")
    return (X - means) / scales, y - y.mean(), means, scales


@checked
def fit_standardized(solver: Solver, X: ArrayLike, y: ArrayLike) -> Linear:
    r"""Fit a penalized model the way it should be fitted to data with units.

    Features are brought to mean 0 and standard deviation 1, the root of
    :math:`\frac1n\sum_i (x_i - \bar x)^2`, so that one penalty fits all of them;
    the response is centered, so that the intercept is not penalized; the result is translated back.

    Parameters
    ----------
    solver : function
        ``solver(features, response)`` returns coefficients, for example
        ``lambda X, y: ridge(X, y, penalty=10)``.
    X : array_like, shape (n, p)
        The features.
    y : array_like, shape (n,)
        The response.

    Returns
    -------
    Linear
        With ``predict``, in the units of the data.

    Raises
    ------
    ValueError
        When a column is constant, an entry is not finite or the shapes do not match.

    Examples
    --------
    >>> from primer.regression import least_squares
    >>> fit_standardized(least_squares, [[0.0], [1.0], [2.0]], [1.0, 2.0, 6.0])
    Linear(intercept=0.5, coefficients=array([2.5]))
    """
    table, response = single_response(X, y)
    features, centered, means, scales = _scaled(table, response)
    coefficients = vector("the result of solver", solver(features, centered), len(scales)) / scales
    return Linear(float(response.mean() - means @ coefficients), coefficients)


@checked
def k_folds(n: Dim, k: Count, rng: np.random.Generator) -> list[Int[np.ndarray, " fold"]]:
    r"""Deal observations at random into ``k`` parts whose sizes differ by at most one.

    Parameters
    ----------
    n, k : int
        Observations and parts, :math:`2 \le k \le n`.
    rng : numpy.random.Generator
        The source of chance.

    Returns
    -------
    list of int arrays
        The indices in each part.

    Raises
    ------
    ValueError
        When there are fewer than two parts or more parts than observations.

    Examples
    --------
    >>> [len(fold) for fold in k_folds(10, 3, np.random.default_rng(0))]
    [4, 3, 3]
    """
    if not 2 <= k <= n:
        raise ValueError(f"k must lie between 2 and the {n} observations, got {k}")
    return [np.sort(fold) for fold in np.array_split(rng.permutation(n), k)]


@checked
def cross_validated_errors(
    fit: Callable[[np.ndarray, np.ndarray], Linear],
    X: ArrayLike,
    y: ArrayLike,
    folds: Sequence[np.ndarray],
) -> Float[np.ndarray, " n"]:
    r"""Compute each observation's squared error under a model that never saw it.

    Parameters
    ----------
    fit : function
        ``fit(features, response)`` returns a :class:`Linear`; all choices it makes must be made
        inside.
    X, y : array_like
        The data.
    folds : sequence of int arrays
        From :func:`k_folds`; each observation in exactly one.

    Returns
    -------
    float array, shape (n,)
        Squared errors, in the squared unit of ``y``.

    Raises
    ------
    ValueError
        When the folds do not hold each observation exactly once.

    Examples
    --------
    >>> from primer.regression import least_squares
    >>> fit = lambda X, y: fit_standardized(least_squares, X, y)
    >>> folds = [np.array([i]) for i in range(4)]
    >>> cross_validated_errors(fit, [[0], [1], [2], [3]], [1, 3, 2, 4], folds).round(3)
    array([1.   , 1.653, 1.653, 1.   ])
    """
    table, response = single_response(X, y)
    errors = np.empty(len(response))
    for fold in _rows(folds, len(response)):
        model = fit(np.delete(table, fold, axis=0), np.delete(response, fold))
        if not isinstance(model, Linear):
            raise ValueError(f"fit must return a Linear, as fit_standardized does, got {model!r}")
        errors[fold] = (response[fold] - model.predict(table[fold])) ** 2
    return errors


def _rows(folds: Sequence[np.ndarray], n: int) -> list[Int[np.ndarray, " fold"]]:
    """Return folds that hold each of ``n`` observations once."""
    parts = [as_array(f"fold {i}", fold) for i, fold in enumerate(folds)]
    if len(parts) < 2:
        raise ValueError(f"need at least two folds, one to learn from, got {len(parts)}")
    whole = all(part.ndim == 1 and part.dtype.kind in "iu" for part in parts)
    if not whole or sorted(np.concatenate(parts).tolist()) != list(range(n)):
        raise ValueError(
            f"the folds must hold each of 0 … {n - 1} exactly once, as whole numbers; use k_folds"
        )
    return parts


@checked
def choose_penalty(
    solve: PathSolver, X: ArrayLike, y: ArrayLike, folds: Sequence[np.ndarray]
) -> tuple[int, Float[np.ndarray, " m"]]:
    r"""Find the penalty of a path with the smallest cross-validated error.

    Parameters
    ----------
    solve : function
        ``solve(features, response)`` returns one row of coefficients for each penalty, for example
        ``lambda X, y: ridge_path(X, y, penalties)``.
    X, y : array_like
        The data; standardized inside each fold.
    folds : sequence of int arrays
        From :func:`k_folds`.

    Returns
    -------
    best : int
        The index of the best penalty.
    errors : float array, shape (m,)
        The mean squared error of each.

    Raises
    ------
    ValueError
        When the folds do not hold each observation exactly once, or ``solve`` returns no rows of
        coefficients.

    Examples
    --------
    >>> from primer.regression import ridge_path
    >>> folds = [np.array([i]) for i in range(4)]
    >>> path = lambda X, y: ridge_path(X, y, [0.01, 100.0])
    >>> choose_penalty(path, [[0], [1], [2], [3]], [1, 3, 2, 4], folds)[0]
    0
    """
    table, response = single_response(X, y)
    totals: np.ndarray | float = 0.0
    for fold in _rows(folds, len(response)):
        kept, rest = np.delete(table, fold, axis=0), np.delete(response, fold)
        features, centered, means, scales = _scaled(kept, rest)
        coefficients = matrix("the result of solve", solve(features, centered))  # (m, p)
        if coefficients.shape[1] != len(scales):
            raise ValueError(
                f"solve must return a row of {len(scales)} coefficients for each penalty, got "
                f"shape {coefficients.shape}"
            )
        predicted = (table[fold] - means) / scales @ coefficients.T + rest.mean()  # (fold, m)
        totals = totals + np.sum((response[fold, None] - predicted) ** 2, axis=0)
    errors = vector("errors", totals) / len(response)
    return int(errors.argmin()), errors


@checked
def fit_with_chosen_penalty(
    solve: PathSolver, X: ArrayLike, y: ArrayLike, n_folds: int, rng: np.random.Generator
) -> Linear:
    r"""Choose the penalty by cross-validation within the data given, then fit to all of them.

    Called inside :func:`cross_validated_errors` it makes nested cross-validation: the observations
    that judge have no part in the choice.

    Parameters
    ----------
    solve : function
        As in :func:`choose_penalty`.
    X, y : array_like
        The training data.
    n_folds : int
        How many folds the choice is made with.
    rng : numpy.random.Generator
        Deals the folds.

    Returns
    -------
    Linear
        The model with the chosen penalty.

    Examples
    --------
    >>> from primer.regression import ridge_path
    >>> path = lambda X, y: ridge_path(X, y, [1e-9, 100.0])
    >>> data = [[0], [1], [2], [3]], [1, 3, 2, 4]
    >>> fit_with_chosen_penalty(path, *data, 4, np.random.default_rng(0)).coefficients.round(6)
    array([0.8])
    """
    table, response = single_response(X, y)
    best, _ = choose_penalty(solve, table, response, k_folds(len(response), n_folds, rng))
    return fit_standardized(lambda F, r: solve(F, r)[best], table, response)
