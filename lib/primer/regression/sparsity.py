r"""The lasso by coordinate descent, stopped by its duality gap.

The objective is :math:`\frac1{2n}\lVert y - Xw\rVert^2 + \lambda\lVert w\rVert_1`.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    NotNegative,
    Positive,
    Reals,
    Vector,
    checked,
    vector,
)
from primer.inputs.magnitude import TINY, rescaled, scaled
from primer.regression.inputs import Column, Design, single_response

MAX_SWEEPS = 10_000


@checked
def soft_threshold(values: Reals, threshold: NotNegative) -> Float[np.ndarray, "*shape"]:
    r"""Move numbers towards 0 by a threshold, and stop there.

    .. math:: S(a, t) = \operatorname{sign}(a)\,\max(|a| - t,\, 0)
              = \arg\min_w \tfrac12 (w-a)^2 + t|w|

    Parameters
    ----------
    values : array_like
        :math:`a`, in any shape.
    threshold : float
        :math:`t \ge 0`.

    Returns
    -------
    float array of the same shape
        Values within the threshold become exactly 0.

    Raises
    ------
    ValueError
        When the threshold is negative or an entry is not finite.

    References
    ----------
    Donoho and Johnstone (1994).

    Examples
    --------
    >>> soft_threshold([-3.0, 0.5, 2.0], 1.0) + 0.0
    array([-2.,  0.,  1.])
    """
    a = values
    return np.sign(a) * np.maximum(np.abs(a) - threshold, 0)


@checked
def lasso_largest_penalty(X: Annotated[Design, "n p"], y: Annotated[Column, "n"]) -> float:
    r"""Compute the smallest penalty at which every coefficient is 0.

    .. math:: \lambda_{\max} = \frac1n\max_j |x_{\cdot j}^\top y|

    Parameters
    ----------
    X, y : array_like
        As :func:`lasso`.

    Returns
    -------
    float
        Where a path of penalties starts.

    References
    ----------
    Friedman, Hastie and Tibshirani (2010), section 2.5.

    Examples
    --------
    >>> lasso_largest_penalty([[1.0, 0.0], [0.0, 2.0]], [3.0, 5.0])
    5.0
    """
    (table, unit), (response, other) = scaled(X), scaled(y)
    largest = np.abs(table.T @ response).max() / len(y)
    return float(rescaled("the largest penalty", largest, unit, other))


@checked
def lasso(
    X: ArrayLike,
    y: ArrayLike,
    penalty: Positive,
    *,
    start: ArrayLike | None = None,
    tolerance: Positive = 1e-8,
) -> Float[np.ndarray, " p"]:
    r"""Solve the lasso, one coordinate at a time.

    .. math::
        \hat w = \arg\min_w \frac1{2n}\lVert y - Xw\rVert^2 + \lambda\lVert w\rVert_1, \qquad
        w_j \leftarrow \frac{S\bigl(\frac1n x_{\cdot j}^\top r_{(j)},\, \lambda\bigr)}
                            {\frac1n\lVert x_{\cdot j}\rVert^2}

    where :math:`r_{(j)}` is the residual without feature :math:`j`.  The sweeps end when the
    duality gap, an upper bound on the distance to the optimum, is small, or when no coefficient
    moves the fit by more than rounding does.

    Parameters
    ----------
    X : array_like, shape (n, p)
        The features; :math:`p` may exceed :math:`n`.
    y : array_like, shape (n,)
        The response.
    penalty : float
        :math:`\lambda > 0`, in the unit of ``X`` times that of ``y``.
    start : array_like, shape (p,), optional
        Where to begin; the solution for a neighboring penalty saves most of the work.
    tolerance : float
        The gap allowed, as a fraction of :math:`\frac1{2n}\lVert y\rVert^2`.

    Returns
    -------
    float array, shape (p,)
        The coefficients; the unneeded ones are exactly 0.

    Raises
    ------
    ValueError
        When the penalty is not above 0 (use :func:`primer.regression.least_squares` for 0), or an
        entry is not finite.
    RuntimeError
        When ten thousand sweeps do not close the gap.

    References
    ----------
    Tibshirani (1996); Friedman, Hastie and Tibshirani (2010).

    Examples
    --------
    >>> lasso([[1.0, 0.0], [0.0, 1.0]], [4.0, 1.0], penalty=1.0)
    array([2., 0.])
    """
    table, response = _squarable(X, y)
    lam = penalty
    n, p = table.shape
    w = np.zeros(p) if start is None else vector("start", start, p).copy()
    gram, moments = table.T @ table / n, table.T @ response / n
    scales = np.diag(gram).tolist()  # (p,): each column's mean square
    energy = float(response @ response) / (2 * n)
    pull = moments - gram @ w  # (p,): each feature's inner product with the residual, over n
    allowed = tolerance * energy
    still = 8 * np.finfo(float).eps * np.sqrt(2 * energy)
    for _ in range(MAX_SWEEPS):
        before = w.copy()
        for j, scale in enumerate(scales):
            reach = pull[j] + scale * w[j]
            # A column that is zero everywhere has reach 0, so that nothing is divided by its scale.
            new = 0.0 if abs(reach) <= lam else (reach - np.copysign(lam, reach)) / scale
            if new != w[j]:
                pull -= gram[j] * (new - w[j])
                w[j] = new
        # The gap of a column that is 1e16 times as large as the penalty is rounding.
        ends = (np.abs(w - before) * np.sqrt(scales) <= still).all()
        if ends or duality_gap(w, pull, moments, energy, lam) <= allowed:
            return w
    raise RuntimeError(
        f"the lasso did not converge in {MAX_SWEEPS} sweeps: its columns are nearly collinear; "
        "leave some of them out, or make the penalty or the tolerance larger"
    )


def _squarable(X: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return features and response, unless a square or a product of them loses its digits."""
    table, response = single_response(X, y)
    columns, height = np.abs(table).max(axis=0), np.abs(response).max()
    with np.errstate(under="ignore", over="ignore"):
        sizes = np.concatenate([columns**2, columns * height])
    there = np.concatenate([columns > 0, (columns > 0) & (height > 0)])
    if (sizes[there] < TINY / np.finfo(float).eps).any():
        raise ValueError(
            "the squares of a column of X, or its products with y, are too small for "
            "floating-point numbers; measure in a smaller unit"
        )
    if not np.isfinite(sizes * len(table)).all():
        raise ValueError(
            "the squares of a column of X, or its products with y, are too large for "
            "floating-point numbers; measure in a larger unit"
        )
    return table, response


@checked
def duality_gap(
    w: Float[np.ndarray, " p"],
    pull: Float[np.ndarray, " p"],
    moments: Float[np.ndarray, " p"],
    energy: float,
    penalty: float,
) -> float:
    r"""Bound how far the lasso's objective at ``w`` lies above its minimum.

    .. math::
        P(w) - D(\theta), \qquad
        D(\theta) = \frac{y^\top\theta}n - \frac{\lVert\theta\rVert^2}{2n}, \qquad
        \theta = s\,r, \quad s = \min\Bigl(1, \frac{\lambda n}{\max_j|x_{\cdot j}^\top r|}\Bigr)

    Every :math:`\theta` with :math:`|x_{\cdot j}^\top\theta|/n \le \lambda` bounds the minimum from
    below; the scaled residual is such a one.

    Parameters
    ----------
    w : float array, shape (p,)
        Coefficients.
    pull, moments : float arrays, shape (p,)
        :math:`X^\top r/n` with :math:`r = y - Xw`, and :math:`X^\top y/n`.
    energy : float
        :math:`\lVert y\rVert^2/2n`.
    penalty : float
        :math:`\lambda`.

    Returns
    -------
    float
        At least 0 up to rounding, and 0 at the solution.

    Examples
    --------
    >>> zeros = np.zeros(1)
    >>> duality_gap(zeros, np.array([2.0]), np.array([2.0]), energy=4.0, penalty=1.0)
    1.0
    """
    if energy < TINY and moments.any():
        raise ValueError(
            "the squares of y are too small for floating-point numbers; measure in a smaller unit"
        )
    with_y = 2 * energy - moments @ w  # y·r / n
    residual = with_y - pull @ w  # ‖r‖² / n
    scale = min(1.0, penalty / max(float(np.abs(pull).max()), TINY))
    primal = residual / 2 + penalty * np.abs(w).sum()
    return float(primal - (scale * with_y - scale**2 * residual / 2))


@checked
def lasso_path(
    X: ArrayLike, y: ArrayLike, penalties: Vector, *, tolerance: float = 1e-8
) -> Float[np.ndarray, "m p"]:
    r"""Solve the lasso for many penalties, each from the solution of the next larger one.

    Parameters
    ----------
    X, y : array_like
        As :func:`lasso`.
    penalties : array_like, shape (m,)
        Each above 0, in any order.
    tolerance : float
        As :func:`lasso`.

    Returns
    -------
    float array, shape (m, p)
        One row of coefficients for each penalty, in the given order.

    Raises
    ------
    ValueError
        As :func:`lasso`.

    Examples
    --------
    >>> lasso_path([[1.0, 0.0], [0.0, 1.0]], [4.0, 1.0], penalties=[0.25, 1.0])
    array([[3.5, 0.5],
           [2. , 0. ]])
    """
    table, response = single_response(X, y)
    lam = penalties
    path = np.zeros((len(lam), table.shape[1]))
    w = np.zeros(table.shape[1])
    for at in np.argsort(-lam):
        path[at] = w = lasso(table, response, float(lam[at]), start=w, tolerance=tolerance)
    return path
