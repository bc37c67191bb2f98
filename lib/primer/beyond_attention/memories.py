r"""Memories of one matrix, and the rules that write a pair into it.

All read :math:`q \mapsto qW`.  They differ in how much of the regression of values on keys they do
when a pair is written: none (:class:`AdditiveMemory`), one gradient step
(:class:`DeltaMemory`), all of it (:class:`RidgeMemory`).
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.beyond_attention.kernels import fitting, quiet
from primer.beyond_attention.ridge import sherman_morrison
from primer.inputs import (
    Dim,
    Matrix,
    NotNegative,
    Numbers,
    Positive,
    Side,
    Vector,
    as_array,
    checked,
    finite,
    not_negative,
    positive,
    room,
    vector,
)
from primer.language_models import softmax

MOST_SHRUNK = 1e10
"""By how much a pair may shrink P: each power of ten takes a digit off the sixteen there are."""


@runtime_checkable
class Memory(Protocol):
    """What stores pairs of key and value, and answers queries."""

    def write(self, key: ArrayLike, value: ArrayLike) -> None:
        """Store a pair."""

    def read(self, query: ArrayLike) -> Float[np.ndarray, "... d_v"]:
        """Answer a query, or several as rows."""


class _Matrix:
    """A matrix that is read by a product."""

    def __init__(self, d_key: Dim, d_value: Dim) -> None:
        room(d_key=d_key, d_value=d_value)
        self.W = np.zeros((d_key, d_value))

    @property
    def W(self) -> Float[np.ndarray, "d_k d_v"]:
        """The matrix."""
        return self._matrix

    @W.setter
    def W(self, matrix: np.ndarray) -> None:
        if not np.isfinite(matrix).all():
            raise ValueError(
                "the memory would grow beyond all numbers and stays as it was: take shorter keys, "
                "smaller values or a smaller rate"
            )
        self._matrix = matrix

    @checked
    @quiet
    def read(self, query: Numbers) -> Float[np.ndarray, "... d_v"]:
        """Answer a query of shape (d_key,), or several as rows, by :math:`qW`."""
        q = query
        if q.shape[-1:] != self.W.shape[:1]:
            raise ValueError(f"a query has shape {q.shape}, the keys have {len(self.W)} numbers")
        return q @ self.W

    def _pair(self, key: ArrayLike, value: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = self.W.shape
        return vector("key", key, rows), vector("value", value, columns)


class AdditiveMemory(_Matrix):
    r"""Add each pair: the state of linear attention without a normalizer.

    .. math:: W \leftarrow \gamma W + k^\top v

    Parameters
    ----------
    d_key, d_value : int
        How many numbers a key and a value have.
    keep : float
        :math:`\gamma \in [0, 1]`, what is kept of older pairs at each write.

    Raises
    ------
    ValueError
        When a number is out of its range or a pair does not fit.

    References
    ----------
    Kohonen (1972); Katharopoulos et al. (2020).

    Examples
    --------
    >>> memory = AdditiveMemory(2, 1)
    >>> memory.write([1, 0], [3]), memory.write([0, 1], [5])
    (None, None)
    >>> memory.read([1, 0])
    array([3.])
    """

    @checked
    def __init__(self, d_key: Dim, d_value: Dim, keep: float = 1.0) -> None:
        super().__init__(d_key, d_value)
        self.keep = _share("keep", keep)

    @quiet
    def write(self, key: ArrayLike, value: ArrayLike) -> None:
        """Store a pair."""
        k, v = self._pair(key, value)
        self.W = self.keep * self.W + np.outer(k, v)


class DeltaMemory(_Matrix):
    r"""Write the correction: one gradient step on the error of the pair that comes in.

    .. math:: W \leftarrow W + \beta\, k^\top(v - kW)

    Parameters
    ----------
    d_key, d_value : int
        How many numbers a key and a value have.
    rate : float
        :math:`\beta \ge 0`; with a key of length 1, 1 makes the newest pair exact and above 2 the
        memory runs away.

    Raises
    ------
    ValueError
        When a number is out of its range or a pair does not fit.

    References
    ----------
    Widrow and Hoff (1960); Schlag et al. (2021).

    Examples
    --------
    The second value for the same key replaces the first:

    >>> memory = DeltaMemory(2, 1)
    >>> memory.write([1, 0], [3]), memory.write([1, 0], [5])
    (None, None)
    >>> memory.read([1, 0])
    array([5.])
    """

    @checked
    def __init__(self, d_key: Dim, d_value: Dim, rate: NotNegative = 1.0) -> None:
        super().__init__(d_key, d_value)
        self.rate = rate

    @quiet
    def write(self, key: ArrayLike, value: ArrayLike) -> None:
        """Store a pair."""
        k, v = self._pair(key, value)
        self.W = self.W + self.rate * np.outer(k, v - k @ self.W)


class RidgeMemory(_Matrix):
    r"""Keep the ridge regression of all values on all keys, exactly, by Sherman and Morrison.

    .. math:: W_n = P_n\sum_{j<n} k_j^\top v_j, \qquad
              P_n = \Big(\lambda I + \sum_{j<n} k_j^\top k_j\Big)^{-1}

    A pair changes :math:`P` by rank one, and :math:`W \leftarrow W + Pk^\top(v - kW)`: the delta
    rule with a matrix for a rate.

    Parameters
    ----------
    d_key, d_value : int
        How many numbers a key and a value have.
    penalty : float
        :math:`\lambda > 0`.
    keep : float
        :math:`\gamma \in (0, 1]`: older pairs count less at each write (recursive least squares
        with forgetting).

    Raises
    ------
    ValueError
        When a number is out of its range, a pair does not fit, or its key is so long beside the
        penalty that rounding would decide.

    Examples
    --------
    >>> memory = RidgeMemory(1, 1, penalty=2.0)
    >>> memory.write([1], [3]), memory.write([1], [5])
    (None, None)
    >>> memory.read([2.0]).round(12)
    array([4.])
    """

    @checked
    def __init__(
        self, d_key: Side, d_value: Dim, penalty: Positive = 0.01, keep: float = 1.0
    ) -> None:
        super().__init__(d_key, d_value)
        self.penalty = penalty
        self.P = np.eye(d_key) / penalty
        self.keep = positive("keep", _share("keep", keep))

    @quiet
    def write(self, key: ArrayLike, value: ArrayLike) -> None:
        """Store a pair."""
        k, v = self._pair(key, value)
        P = sherman_morrison(self._faded(k), k, k)
        self.W, self.P = self.W + np.outer(P @ k, v - k @ self.W), P

    def _faded(self, key: np.ndarray) -> Float[np.ndarray, "d_k d_k"]:
        """Return P as older pairs count now, or say that a key would leave no digits of it."""
        P = self.P / self.keep
        if not key @ P @ key < MOST_SHRUNK:
            raise ValueError(
                f"key is too long beside penalty = {self.penalty:g} and keep = {self.keep:g}: its "
                f"pair would shrink P by more than {MOST_SHRUNK:.0e}, of which no digits are left; "
                "take a larger penalty, or a larger keep"
            )
        return P


class SoftmaxMemory:
    r"""Keep every pair and answer by softmax attention.

    .. math:: o = \operatorname{softmax}(\tau\, qK^\top)\, V

    Parameters
    ----------
    sharpness : float
        :math:`\tau > 0`.
    recency : float
        Added to the score of a pair for each pair written after it, times −1: 0 is attention
        without positions.

    Raises
    ------
    ValueError
        When a number is out of its range, a pair does not fit, or nothing was written yet.

    Examples
    --------
    >>> memory = SoftmaxMemory(sharpness=100.0)
    >>> memory.write([1, 0], [3]), memory.write([0, 1], [5])
    (None, None)
    >>> memory.read([1, 0])
    array([3.])
    """

    @checked
    def __init__(self, sharpness: Positive, recency: NotNegative = 0.0) -> None:
        self.sharpness = sharpness
        self.recency = recency
        self.keys: list[np.ndarray] = []
        self.values: list[np.ndarray] = []

    def write(self, key: ArrayLike, value: ArrayLike) -> None:
        """Store a pair."""
        of_key, of_value = (len(kept[0]) if kept else None for kept in (self.keys, self.values))
        k, v = vector("key", key, of_key), vector("value", value, of_value)  # both, or none is kept
        self.keys.append(k)
        self.values.append(v)

    @checked
    @quiet
    def read(self, query: Numbers) -> Float[np.ndarray, "... d_v"]:
        """Answer a query of shape (d_key,), or several as rows."""
        if not self.keys:
            raise ValueError("nothing was written: there is no pair to attend to")
        q = query
        if q.shape[-1:] != self.keys[0].shape:
            raise ValueError(
                f"a query must have {len(self.keys[0])} numbers, as the keys, got {q.shape}"
            )
        scores = finite("the score", self.sharpness * q @ np.array(self.keys).T)
        scores = scores - self.recency * np.arange(len(self.keys))[::-1]
        return softmax(scores) @ np.array(self.values)


@checked
@quiet
def parallel_delta_rule(
    query: Matrix, key: Matrix, value: Matrix, rate: Vector
) -> Float[np.ndarray, "n d_v"]:
    r"""Compute what a delta memory answers after each write, by one triangular system.

    .. math::

        (I + \operatorname{diag}(\beta)\operatorname{tril}(KK^\top, -1))\, U
        = \operatorname{diag}(\beta)\, V, \qquad O = \operatorname{tril}(QK^\top)\, U

    Row :math:`t` of :math:`U` is the correction :math:`\beta_t(v_t - k_tW_{t-1})`, and
    :math:`W_t = \sum_{j\le t} k_j^\top u_j`.

    Parameters
    ----------
    query, key : array_like, shape (n, d)
        Rows.
    value : array_like, shape (n, d_v)
        Rows.
    rate : array_like, shape (n,)
        :math:`\beta_t \ge 0`.

    Returns
    -------
    array, shape (n, d_v)
        Row :math:`t` is :math:`q_tW_t`.

    Raises
    ------
    ValueError
        When shapes do not fit or a rate is negative.

    References
    ----------
    Yang et al. (2024), "Parallelizing linear transformers with the delta rule over sequence
    length".

    Examples
    --------
    >>> parallel_delta_rule([[1.0], [1.0]], [[1.0], [1.0]], [[3.0], [5.0]], [1.0, 0.5])
    array([[3.],
           [4.]])
    """
    q, k, v = fitting(query, key, value, causal=True)
    beta = vector("rate", rate, len(q))
    if (beta < 0).any():
        raise ValueError(f"rates must not be negative, got {beta.min()}")
    system = np.eye(len(q)) + beta[:, None] * np.tril(k @ k.T, -1)
    return np.tril(q @ k.T) @ np.linalg.solve(system, beta[:, None] * v)


@checked
@quiet
def recall(memory: Memory, keys: Matrix, codes: Matrix, answers: ArrayLike) -> np.ndarray:
    r"""Say for each key whether the code nearest to the memory's answer is the right one.

    Parameters
    ----------
    memory : Memory
        What the pairs were written into.
    keys : array_like, shape (n, d)
        The keys to ask for.
    codes : array_like, shape (m, d_v)
        All values there are, of one length.
    answers : array_like of int, shape (n,)
        The right row of ``codes`` for each key.

    Returns
    -------
    bool array, shape (n,)
        Whether the largest product of answer and code is that of the right code.

    Raises
    ------
    ValueError
        When there are not as many answers as keys, or one names no code.

    Examples
    --------
    >>> memory = AdditiveMemory(2, 2)
    >>> memory.write([1, 0], [0, 1])
    >>> recall(memory, [[1, 0]], [[1, 0], [0, 1]], [1])
    array([ True])
    """
    right = as_array("answers", answers)
    if right.shape != (len(keys),):
        raise ValueError(f"{len(keys)} keys need as many answers, got shape {right.shape}")
    if right.dtype.kind not in "iu" or right.min() < 0 or right.max() >= len(codes):
        raise ValueError(
            f"answers must be rows of codes, whole numbers from 0 to {len(codes) - 1}, "
            f"got {right.tolist()}"
        )
    read = memory.read(keys)
    if read.shape[-1] != codes.shape[1]:
        raise ValueError(f"codes must have {read.shape[-1]} numbers each, got {codes.shape[1]}")
    return (read @ codes.T).argmax(axis=-1) == right


def _share(name: str, value: float) -> float:
    share = not_negative(name, value)
    if share > 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {share}")
    return share
