r"""The best linear answer to a query: ridge regression of values on keys, or pair by pair."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.beyond_attention.kernels import fitting, quiet
from primer.inputs import Matrix, Positive, checked, vector

UNKNOWN = 1e4 * np.finfo(float).eps
"""Parts of the largest singular value, for each row or column: what is smaller is rounding."""


@checked
@quiet
def ridge_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, penalty: Positive
) -> Float[np.ndarray, "n d_v"]:
    r"""Fit values to keys by ridge regression and answer queries by the fit.

    .. math:: W = (\lambda I + K^\top K)^{-1} K^\top V, \qquad o_i = q_iW

    (In columns, :math:`o = W^\top q`.)  With :math:`K = U\Sigma Z^\top` it is
    :math:`W = Z\operatorname{diag}\bigl(\sigma_i/(\sigma_i^2+\lambda)\bigr)U^\top V`, in
    :math:`O(md^2 + mdd_v)` whatever the number of queries.

    Parameters
    ----------
    query, key : array_like, shapes (n, d) and (m, d)
        Rows.
    value : array_like, shape (m, d_v)
        Rows.
    penalty : float
        :math:`\lambda > 0`.

    Returns
    -------
    array, shape (n, d_v)
        The answers.

    Raises
    ------
    ValueError
        When shapes do not fit or the penalty is not positive, or so small that rounding decides.

    References
    ----------
    Hoerl and Kennard (1970) for the fit.

    Examples
    --------
    >>> ridge_attention([[2.0]], [[1.0], [1.0]], [[3.0], [5.0]], penalty=2.0)
    array([[4.]])
    """
    q, k, v = fitting(query, key, value, causal=False)
    U, sigma, Vt = np.linalg.svd(k, full_matrices=False)
    unknown = sigma[0] * max(k.shape) * UNKNOWN
    if sigma[-1] < unknown and np.sqrt(penalty) < unknown:
        raise ValueError(
            f"penalty = {penalty:.3g} is so small that rounding decides: keys depend on each other "
            f"up to {sigma[-1] / sigma[0]:.1g} of their size; take {unknown**2:.1g} or more"
        )
    safe = np.where(sigma > 0, sigma, 1.0)  # no square of σ, in which small ones are lost
    shrunk = np.where(sigma > 0, 1 / (safe + penalty / safe), 0.0)
    return q @ (Vt.T @ (shrunk[:, None] * (U.T @ v)))


@checked
@quiet
def sherman_morrison(inverse: Matrix, u: ArrayLike, v: ArrayLike) -> Float[np.ndarray, "d d"]:
    r"""Update an inverse after a change of rank one, in :math:`O(d^2)`.

    .. math:: (A + u^\top v)^{-1} = A^{-1} - \frac{(A^{-1}u^\top)(vA^{-1})}{1 + vA^{-1}u^\top}

    Parameters
    ----------
    inverse : array_like, shape (d, d)
        :math:`A^{-1}`.
    u, v : array_like, shape (d,)
        Rows; :math:`u^\top v` is their outer product.

    Returns
    -------
    array, shape (d, d)
        The inverse of the changed matrix.

    Raises
    ------
    ValueError
        When shapes do not fit, or the changed matrix is singular.

    References
    ----------
    Sherman and Morrison (1950).

    Examples
    --------
    >>> sherman_morrison(np.eye(2), [1.0, 0.0], [1.0, 0.0])
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    P = inverse
    if P.shape[0] != P.shape[1]:
        raise ValueError(f"inverse must be square, got shape {P.shape}")
    v = vector("v", v, len(P))
    left, right = P @ vector("u", u, len(P)), v @ P
    divisor = 1 + float(v @ left)
    if abs(divisor) < 1e-14:
        raise ValueError("the changed matrix is singular: 1 + vA⁻¹u is 0, so it has no inverse")
    return P - np.outer(left, right) / divisor
