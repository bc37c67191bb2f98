r"""The QR factorization by Householder's reflections, and what it says about dependent columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.linalg import solve_triangular

from primer.inputs import checked
from primer.inputs.magnitude import lengths, scaled
from primer.regression.inputs import Design, column_names


@checked
def householder_qr(
    X: Design,
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, "p p"]]:
    r"""Factor a table into orthonormal columns and an upper triangle, :math:`X = QR`.

    Column by column, a reflection :math:`H = I - 2vv^\top` turns what is left of the column onto
    its first axis:

    .. math:: v \propto a + \operatorname{sign}(a_1)\,\lVert a\rVert\,e_1, \qquad
              Ha = -\operatorname{sign}(a_1)\,\lVert a\rVert\,e_1

    The sign avoids the subtraction of nearly equal numbers.  :math:`Q` is the product of the
    reflections, applied to the first :math:`p` columns of the identity.

    Parameters
    ----------
    X : array_like, shape (n, p)
        At least as many rows as columns.

    Returns
    -------
    Q : float array, shape (n, p)
        Orthonormal columns, :math:`Q^\top Q = I`.
    R : float array, shape (p, p)
        Upper triangular.

    Raises
    ------
    ValueError
        When there are fewer rows than columns, or an entry is not finite.

    References
    ----------
    Householder (1958); Golub and Van Loan (2013), section 5.2.

    Examples
    --------
    >>> Q, R = householder_qr([[3.0, 1.0], [4.0, 3.0]])
    >>> R.round(12) + 0.0
    array([[-5., -3.],
           [ 0., -1.]])
    """
    R, scale = scaled(X, axis=0)  # columns of size 1: no square overflows
    n, p = R.shape
    if n < p:
        raise ValueError(f"QR needs at least as many rows as columns, got shape {R.shape}")
    reflectors = []
    for j in range(p):
        v = R[j:, j].copy()
        v[0] += np.copysign(np.linalg.norm(v), v[0])
        v /= np.linalg.norm(v) or 1.0  # a column that is already zero needs no reflection
        R[j:, j:] -= 2 * np.outer(v, v @ R[j:, j:])
        reflectors.append(v)
    Q = np.eye(n, p)
    for j in reversed(range(p)):
        v = reflectors[j]
        Q[j:] -= 2 * np.outer(v, v @ Q[j:])
    return Q, np.triu(R[:p]) * scale


@checked
def independent_qr(
    X: Float[np.ndarray, "n p"],
    names: Sequence[str] | None = None,
    *,
    intercept: bool = False,
) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, "p p"]]:
    r"""Factor a table whose columns must be linearly independent.

    Column :math:`j` depends on those before it when what they leave of it, :math:`|R_{jj}|`, is
    nothing but rounding.

    Parameters
    ----------
    X : float array, shape (n, p)
        The columns.
    names : sequence of str, optional
        Their names, for the error.
    intercept : bool
        Whether the first column is all ones.  Then the others are factored less their means, so
        that what they differ by keeps its digits, however far they are from 0.

    Returns
    -------
    tuple of float arrays
        :math:`Q` and :math:`R`, as :func:`householder_qr`.

    Raises
    ------
    ValueError
        When there are more columns than rows, or a column is a combination of earlier ones; the
        sentence names them.

    Examples
    --------
    >>> independent_qr(np.array([[1.0, 2, 3], [0, 1, 1], [2, 0, 2], [1, 1, 2]]), ["a", "b", "c"])
    Traceback (most recent call last):
        ...
    ValueError: column c is a linear combination of a, b: leave one of them out, or use ridge
    """
    n, p = X.shape
    labels = column_names(names, p)
    if p > n:
        raise ValueError(
            f"{p} columns cannot be independent with {n} observations: "
            "leave columns out, or use ridge"
        )
    means = X.mean(axis=0) * (np.arange(p) > 0) * intercept
    Q, R = householder_qr(X - means)
    R[0] += R[0, 0] * means  # [1 X] is [1 X − 1m] times the identity with m in its first row
    eps = np.finfo(float).eps
    rounding = np.maximum(10 * n * eps * lengths(X - means), 2 * eps * lengths(X))
    dependent = np.flatnonzero(np.abs(np.diag(R)) <= rounding)
    if len(dependent):
        raise ValueError(_dependence(X, R, int(dependent[0]), labels))
    return Q, R


def _dependence(X: np.ndarray, R: np.ndarray, j: int, names: Sequence[str]) -> str:
    """Say on which earlier columns column ``j`` depends."""
    if not X[:, j].any():
        return f"column {names[j]} is zero everywhere: leave it out"
    # The columns before j are independent; their share of column j stands above R's diagonal.
    weights = solve_triangular(R[:j, :j], R[:j, j])
    sizes = lengths(X)
    shares = np.abs(weights) * sizes[:j]
    parts = [names[i] for i in np.flatnonzero(shares > 1e-8 * sizes[j]).tolist()]
    if parts == ["intercept"]:
        return f"column {names[j]} is constant, as the intercept is: leave it out"
    return (
        f"column {names[j]} is a linear combination of {', '.join(parts)}: "
        "leave one of them out, or use ridge"
    )
