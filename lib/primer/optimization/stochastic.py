r"""Stochastic gradient descent on least squares, one observation at a time.

When the observations can be met exactly (:math:`d \ge n`, full rank), a constant step size is
enough: the noise of the gradient vanishes where the residuals do.  The expected loss then falls by
a constant factor, and the constants are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    Count,
    Like,
    Matrix,
    Positive,
    Vector,
    as_array,
    checked,
    count,
    matrix,
    vector,
)


@checked
def minimum_norm_solution(
    X: Annotated[Independent, "n d"], y: Annotated[Vector, "n"]
) -> Float[np.ndarray, " d"]:
    r"""Compute the shortest weights that meet every observation.

    .. math:: w^* = X^\top(XX^\top)^{-1}y

    Parameters
    ----------
    X : array_like, shape (n, d)
        Observations of full rank, no more than features.
    y : array_like, shape (n,)
        The targets.

    Returns
    -------
    float array, shape (d,)
        :math:`w^*`; gradient descent from 0 ends here.

    Raises
    ------
    ValueError
        When the rows are dependent or more than the columns: then not every ``y`` can be met.

    References
    ----------
    Golub and Van Loan (2013), section 5.6.

    Examples
    --------
    >>> minimum_norm_solution([[1.0, 1.0]], [2.0])
    array([1., 1.])
    """
    return X.T @ np.linalg.solve(X @ X.T, y)


def full_row_rank(name: str, values: ArrayLike) -> Float[np.ndarray, "n d"]:
    """Return a matrix whose rows are independent."""
    table = matrix(name, values)
    rank = int(np.linalg.matrix_rank(table))
    if rank < len(table):
        raise ValueError(
            f"the {len(table)} rows of {name} have rank {rank}; they must be independent, so that "
            "every observation can be met exactly"
        )
    return table


Independent = Annotated[Like, full_row_rank]
"""A matrix whose rows are independent."""


class Coordinates(NamedTuple):
    r"""A problem in the basis where only :math:`n` coordinates move.

    Attributes
    ----------
    X : float array, shape (n, n)
        :math:`\tilde X = U\Sigma_1`, the observations in the basis.
    basis : float array, shape (d, n)
        :math:`V_1`, the right singular vectors that the observations span.
    solution : float array, shape (d,)
        :math:`w^*`.
    """

    X: Float[np.ndarray, "n n"]
    basis: Float[np.ndarray, "d n"]
    solution: Float[np.ndarray, " d"]


@checked
def active_coordinates(X: Independent, y: ArrayLike) -> Coordinates:
    r"""Shift the solution to 0 and turn to the right singular vectors.

    .. math:: \tilde w = V_1^\top(w - w^*), \qquad Xw - y = \tilde X\tilde w, \qquad
              X = U\,[\Sigma_1, 0]\,V^\top, \quad \tilde X = U\Sigma_1

    Parameters
    ----------
    X, y : array_like
        As :func:`minimum_norm_solution`.

    Returns
    -------
    Coordinates
        ``X``, ``basis`` and ``solution``.

    Raises
    ------
    ValueError
        As :func:`minimum_norm_solution`.

    Examples
    --------
    >>> abs(active_coordinates([[3.0, 4.0]], [5.0]).X)
    array([[5.]])
    """
    U, sigma, Vt = np.linalg.svd(X, full_matrices=False)
    return Coordinates(X=U * sigma, basis=Vt.T, solution=minimum_norm_solution(X, y))


@checked
def stochastic_gradient(
    X: Matrix, y: ArrayLike, w: ArrayLike, batch: Iterable[int]
) -> Float[np.ndarray, " d"]:
    r"""Compute the mean gradient over a mini-batch of observations.

    .. math:: g_{\mathcal B} = \frac1{|\mathcal B|}\sum_{i\in\mathcal B} 2(x_i^\top w - y_i)\,x_i

    Parameters
    ----------
    X, y, w : array_like, shapes (n, d), (n,) and (d,)
        The problem and the weights.
    batch : iterable of int
        The rows, one or more; a row may come twice.

    Returns
    -------
    float array, shape (d,)
        On average over uniform batches :math:`\frac1n\nabla\lVert Xw-y\rVert^2`.

    Raises
    ------
    ValueError
        When the batch is empty or names a row that is not there.

    References
    ----------
    Robbins and Monro (1951).

    Examples
    --------
    >>> stochastic_gradient([[1.0], [3.0]], [0.0, 0.0], [1.0], batch=[1])
    array([18.])
    """
    target, weights = vector("y", y, len(X)), vector("w", w, X.shape[1])
    rows = np.asarray([count("a row of the batch", row, at_least=0) for row in batch], dtype=int)
    if rows.size == 0:
        raise ValueError("the batch is empty: name at least one row")
    if rows.min() < 0 or rows.max() >= len(X):
        raise ValueError(f"rows must lie between 0 and {len(X) - 1}, got {rows.tolist()}")
    return 2 * X[rows].T @ (X[rows] @ weights - target[rows]) / len(rows)


@checked
def sgd(
    X: Matrix,
    y: ArrayLike,
    step: Positive,
    rows: ArrayLike,
    start: ArrayLike | None = None,
) -> Float[np.ndarray, "times *runs d"]:
    r"""Run stochastic gradient descent with one observation at each step.

    .. math:: w_{t+1} = w_t - 2\eta\,x_{I_t}\bigl(x_{I_t}^\top w_t - y_{I_t}\bigr)

    Parameters
    ----------
    X, y : array_like, shapes (n, d) and (n,)
        The problem.
    step : float
        :math:`\eta > 0`.
    rows : array_like of int, shape (steps,) or (steps, runs)
        The observation :math:`I_t` of each step; a second axis makes independent runs.
    start : array_like, shape (d,), optional
        :math:`w_0`, by default 0.

    Returns
    -------
    float array, shape (steps + 1, \*runs, d)
        The path of each run.

    Raises
    ------
    ValueError
        When a row is not there, or shapes do not match.

    References
    ----------
    Robbins and Monro (1951).

    Examples
    --------
    >>> sgd([[1.0], [2.0]], [1.0, 2.0], step=0.125, rows=[0, 1]).ravel()
    array([0.  , 0.25, 1.  ])
    """
    target = vector("y", y, len(X))
    chosen = as_array("rows", rows)
    if chosen.ndim == 0 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise ValueError(f"rows must be a sequence of whole numbers, got {rows!r}")
    if chosen.size and (chosen.min() < 0 or chosen.max() >= len(X)):
        raise ValueError(f"rows must lie between 0 and {len(X) - 1}")
    chosen = chosen.astype(int)
    eta = step
    first = np.zeros(X.shape[1]) if start is None else vector("start", start, X.shape[1])
    path = np.empty((len(chosen) + 1, *chosen.shape[1:], X.shape[1]))
    path[0] = first
    for t, i in enumerate(chosen):
        x, w = X[i], path[t]  # (*runs, d)
        residual = (x * w).sum(axis=-1) - target[i]
        path[t + 1] = w - 2 * eta * residual[..., None] * x
    return path


class Contraction(NamedTuple):
    r"""The constants of :math:`E L(w_{t+1}) \le (1 - C_1\eta + C_2\eta^2)\,L(w_t)`.

    Attributes
    ----------
    c1, c2 : float
        The constants.
    limit : float
        :math:`C_1/C_2`: below it the expected loss is sure to fall.
    best : float
        :math:`C_1/2C_2`, where the bound is lowest.
    """

    c1: float
    c2: float
    limit: float
    best: float


@checked
def sgd_contraction(X: Independent) -> Contraction:
    r"""Compute the constants by which SGD's expected loss is bounded.

    .. math:: C_1 = \frac{4\sigma_{\min}^2}n, \qquad C_2 = \frac{4\sigma_{\max}^2\rho^2}n, \qquad
              \rho = \max_i\lVert x_i\rVert

    Parameters
    ----------
    X : array_like, shape (n, d)
        Independent observations.

    Returns
    -------
    Contraction
        ``c1``, ``c2``, ``limit`` and ``best``.

    Raises
    ------
    ValueError
        When the rows are dependent.

    Examples
    --------
    >>> sgd_contraction([[1.0, 0.0], [0.0, 2.0]])
    Contraction(c1=2.0, c2=32.0, limit=0.0625, best=0.03125)
    """
    sigma = np.linalg.svd(X, compute_uv=False)
    longest = float((X**2).sum(axis=1).max())  # ρ²
    c1 = float(4 * sigma[-1] ** 2 / len(X))
    c2 = float(4 * sigma[0] ** 2 * longest / len(X))
    return Contraction(c1, c2, limit=c1 / c2, best=c1 / (2 * c2))


@checked
def worst_expected_factor(X: ArrayLike, step: Positive) -> float:
    r"""Compute the exact worst factor of the expected loss in one step of SGD.

    .. math:: \max_w \frac{E\lVert\tilde Xw'\rVert^2}{\lVert\tilde Xw\rVert^2}, \qquad
              w' = (I - 2\eta\,\tilde x_i\tilde x_i^\top)\,w

    With residuals :math:`r = \tilde Xw` this is the largest eigenvalue of
    :math:`I - \frac{4\eta}nK + \frac{4\eta^2}n\operatorname{diag}\lVert K_{i\cdot}\rVert^2`, where
    :math:`K = XX^\top`.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Independent observations.
    step : float
        :math:`\eta > 0`.

    Returns
    -------
    float
        At most :math:`1 - C_1\eta + C_2\eta^2` of :func:`sgd_contraction`.

    Raises
    ------
    ValueError
        When the rows are dependent or the step is not above 0.

    Examples
    --------
    >>> worst_expected_factor([[1.0, 0.0], [0.0, 2.0]], step=0.125)
    0.78125
    """
    table = full_row_rank("X", X)
    eta, n = step, len(table)
    K = table @ table.T
    M = np.eye(n) - 4 * eta / n * K + 4 * eta**2 / n * np.diag((K**2).sum(axis=1))
    return float(np.linalg.eigvalsh(M)[-1])


@checked
def noise_floor(step: Positive, noise_variance: Positive, batch_size: Count = 1) -> float:
    r"""Compute where SGD stops improving when the observations contradict each other.

    For the mean of noisy numbers, the loss :math:`E(w - y)^2` with :math:`\mathrm{Var}(y)=s^2`,
    SGD is :math:`w_{t+1} = (1-2\eta)w_t + 2\eta\bar y_t` and settles at the variance

    .. math:: \mathrm{Var}(w_\infty) = \frac{\eta}{1-\eta}\cdot\frac{s^2}{|\mathcal B|}.

    Parameters
    ----------
    step : float
        :math:`0 < \eta < 1`.
    noise_variance : float
        :math:`s^2 > 0`.
    batch_size : int
        :math:`|\mathcal B| \ge 1`, the observations averaged at each step.

    Returns
    -------
    float
        The stationary variance of the weight.

    Raises
    ------
    ValueError
        When the step is not between 0 and 1, or another number out of range.

    Examples
    --------
    >>> noise_floor(0.5, 1.0), noise_floor(0.2, 1.0), noise_floor(0.2, 1.0, batch_size=25)
    (1.0, 0.25, 0.01)
    """
    eta = step
    if eta >= 1:
        raise ValueError(f"step must be below 1, where the iteration stops converging, got {step}")
    return eta / (1 - eta) * noise_variance / batch_size
