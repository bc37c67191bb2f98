r"""Attention with any similarity, and the bracket that moves when it has finitely many features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import Count, Matrix, among, checked, evaluated, finite, matrix, room

FORMS = ("parallel", "recurrent", "chunked")

quiet = np.errstate(over="ignore", invalid="ignore")
"""Leaves it to ``checked`` to say that a result has no finite value."""


@checked
@quiet
def similarity_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    similarity: Callable[[np.ndarray], np.ndarray],
    *,
    causal: bool = False,
) -> Float[np.ndarray, "n d_v"]:
    r"""Average the values, weighted by any similarity of query and key.

    .. math:: o_i = \frac{\sum_j s(q_ik_j^\top)\, v_j}{\sum_j s(q_ik_j^\top)}

    With :math:`s(x) = e^x` this is softmax attention without its scale.

    Parameters
    ----------
    query, key : array_like, shapes (n, d) and (m, d)
        Rows :math:`q_i, k_j`.
    value : array_like, shape (m, d_v)
        Rows :math:`v_j`.
    similarity : callable
        :math:`s`, from the array of all dot products to weights of the same shape.
    causal : bool
        Whether row :math:`i` sees only :math:`j \le i`; then :math:`n = m`.

    Returns
    -------
    array, shape (n, d_v)
        The outputs :math:`o_i`.

    Raises
    ------
    ValueError
        When shapes do not fit, or the weights of a query do not add up to more than 0.

    References
    ----------
    Katharopoulos et al. (2020), equation 3.

    Examples
    --------
    >>> similarity_attention([[1.0]], [[0.0], [1.0]], [[3.0], [6.0]], lambda x: 1 + x)
    array([[5.]])
    """
    q, k, v = fitting(query, key, value, causal)
    weights = evaluated("similarity", similarity, q @ k.T)
    if causal:
        weights = np.tril(weights)
    return weights @ v / _normalizer(weights.sum(axis=1))


@checked
@quiet
def quadratic_features(x: Matrix) -> Float[np.ndarray, "n features"]:
    r"""Compute the features whose dot product is the quadratic kernel.

    .. math::

        \phi(x) = \big[1,\ \sqrt2\,x_i,\ x_i^2,\ \sqrt2\,x_ix_j\ (i<j)\big], \qquad
        \phi(x)\,\phi(y)^\top = (xy^\top + 1)^2

    Parameters
    ----------
    x : array_like, shape (n, D)
        Rows.

    Returns
    -------
    array, shape (n, (D + 1)(D + 2) / 2)
        A row of features for each row.

    Raises
    ------
    ValueError
        When ``x`` is no matrix of finite numbers.

    References
    ----------
    Boser, Guyon and Vapnik (1992).

    Examples
    --------
    >>> quadratic_features([[2.0]]).round(3)
    array([[1.   , 2.828, 4.   ]])
    """
    room(rows=len(x), **{"columns²": x.shape[1] ** 2})
    i, j = np.triu_indices(x.shape[1], 1)
    root = np.sqrt(2)
    one = np.ones((len(x), 1))
    return np.hstack([one, root * x, x**2, root * x[:, i] * x[:, j]])


@checked
def elu_features(x: Matrix) -> Float[np.ndarray, "n d"]:
    r"""Compute the positive features :math:`\phi(x) = \operatorname{elu}(x) + 1`.

    .. math:: \phi(x) = x + 1 \text{ where } x > 0, \quad e^x \text{ elsewhere}

    Parameters
    ----------
    x : array_like, shape (n, d)
        Rows.

    Returns
    -------
    array, shape (n, d)
        As many features as numbers, all above 0.

    Raises
    ------
    ValueError
        When ``x`` is no matrix of finite numbers.

    References
    ----------
    Katharopoulos et al. (2020), equation 7.

    Examples
    --------
    >>> elu_features([[-np.log(2), 0.0, 1.0]])
    array([[0.5, 1. , 2. ]])
    """
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


@checked
@quiet
def linear_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    normalize: bool = True,
    form: Annotated[str, among(FORMS)] = "chunked",
    chunk: Count = 64,
) -> Float[np.ndarray, "n d_v"]:
    r"""Compute causal linear attention from features, in one of three ways to write one sum.

    .. math::

        S_t = S_{t-1} + k_t^\top v_t, \quad z_t = z_{t-1} + k_t, \qquad
        o_t = \frac{q_tS_t}{q_tz_t^\top} =
        \frac{\sum_{j\le t} (q_tk_j^\top)\, v_j}{\sum_{j\le t} q_tk_j^\top}

    *Parallel* takes the sum on the right for all :math:`t` at once, :math:`O(n^2d)`; *recurrent*
    the state on the left, :math:`O(nd\,d_v)`; *chunked* is parallel inside chunks and hands the
    state from one to the next.

    Parameters
    ----------
    query, key : array_like, shape (n, d)
        Features :math:`\phi(q_t), \phi(k_t)` as rows.
    value : array_like, shape (n, d_v)
        Rows :math:`v_t`.
    normalize : bool
        Whether to divide by :math:`q_tz_t^\top`; without it :math:`o_t = q_tS_t`.
    form : str
        ``"parallel"``, ``"recurrent"`` or ``"chunked"``.
    chunk : int
        The length of a chunk, above 0.

    Returns
    -------
    array, shape (n, d_v)
        The outputs :math:`o_t`, the same for all forms up to rounding.

    Raises
    ------
    ValueError
        When shapes do not fit, or a normalizer is not above 0.

    References
    ----------
    Katharopoulos et al. (2020), equations 9 to 12.

    Examples
    --------
    >>> linear_attention([[1.0], [1.0]], [[1.0], [3.0]], [[8.0], [4.0]])
    array([[8.],
           [5.]])
    """
    q, k, v = fitting(query, key, value, causal=True)
    size = {"parallel": len(q), "recurrent": 1, "chunked": chunk}[form]
    if normalize:  # the normalizer is attention to values of 1
        v = np.hstack([v, np.ones((len(v), 1))])
    state = np.zeros((k.shape[1], v.shape[1]))
    outputs = np.empty((len(q), v.shape[1]))
    for start in range(0, len(q), size):
        here = slice(start, start + size)
        outputs[here] = q[here] @ state + np.tril(q[here] @ k[here].T) @ v[here]
        state = state + k[here].T @ v[here]
    return outputs[:, :-1] / _normalizer(outputs[:, -1]) if normalize else outputs


def fitting(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, causal: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return queries, keys and values as matrices whose shapes fit, or say which do not."""
    q, k, v = matrix("query", query), matrix("key", key), matrix("value", value)
    if q.shape[1] != k.shape[1]:
        raise ValueError(
            f"queries have {q.shape[1]} numbers and keys {k.shape[1]}; a dot product needs as many"
        )
    if len(k) != len(v):
        raise ValueError(f"there are {len(k)} keys and {len(v)} values; each key needs one value")
    if causal and len(q) != len(k):
        raise ValueError(
            f"there are {len(q)} queries and {len(k)} keys; causal attention needs as many"
        )
    return q, k, v


def _normalizer(sums: np.ndarray) -> np.ndarray:
    """Return sums of weights as a column, or say that one cannot be divided by."""
    if not (finite("weights", sums) > 0).all():
        raise ValueError(
            f"the weights of a query add up to {sums.min():.3g}; they must be positive to be "
            "divided by: use positive features, or no normalizer"
        )
    return sums[:, None]
