r"""Message passing: layers that share their weights over the edges of a graph.

A graph of :math:`n` nodes is its adjacency matrix: :math:`A_{ij}\ne 0` says that node :math:`i`
listens to node :math:`j`.  States of nodes are rows.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from primer.inputs import Matrix, Natural, Vector, checked, matrix, one_of, vector

Reduce = Literal["sum", "mean", "max"]


@checked
def message_passing(
    adjacency: ArrayLike, states: Matrix, reduce: Reduce = "sum"
) -> Float[np.ndarray, "nodes features"]:
    r"""Let every node collect the states of its neighbors once.

    .. math:: v_i' = \bigoplus_{j\,:\,A_{ij}\ne 0} A_{ij}\,v_j

    Parameters
    ----------
    adjacency : array_like, shape (nodes, nodes)
        :math:`A`, with weights if there are any.
    states : array_like, shape (nodes, features)
        The rows :math:`v_j`.
    reduce : {"sum", "mean", "max"}
        What :math:`\oplus` is: none of them knows an order of the neighbors.

    Returns
    -------
    float array, shape (nodes, features)
        A node without neighbors gets 0.

    Raises
    ------
    ValueError
        When the adjacency is not square or the states are not one row for each node.

    References
    ----------
    Gilmer et al. (2017).

    Examples
    --------
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> message_passing(path, [[1.0], [10.0], [100.0]]).ravel()
    array([ 10., 101.,  10.])
    """
    A, v = _adjacency(adjacency), states
    if len(v) != len(A):
        raise ValueError(
            f"the graph has {len(A)} nodes, so states needs as many rows: got {len(v)}"
        )
    one_of("reduce", reduce, get_args(Reduce))
    if reduce == "max":
        messages = A[:, :, None] * v  # (node, neighbor, feature)
        heard = np.where(A[:, :, None] != 0, messages, -np.inf).max(axis=1)
        return np.where(np.isfinite(heard), heard, 0.0)
    total = A @ v
    if reduce == "sum":
        return total
    return total / np.maximum((A != 0).sum(axis=1, keepdims=True), 1)


@checked
def count_walks(adjacency: ArrayLike, length: Natural) -> Int[np.ndarray, "nodes nodes"]:
    r"""Count the walks of exactly so many edges between every two nodes.

    A walk may return to a node and use an edge again.

    .. math:: (A^k)_{ij}

    Parameters
    ----------
    adjacency : array_like, shape (nodes, nodes)
        0 where there is no edge, 1 where there is one, more for several.
    length : int
        :math:`k\ge 0`.

    Returns
    -------
    int array, shape (nodes, nodes)
        The number of walks from row to column.

    Raises
    ------
    ValueError
        When the adjacency is not square, an entry is no count, or there are too many walks for a
        64-bit integer.

    References
    ----------
    Biggs, *Algebraic Graph Theory* (1993), chapter 2.

    Examples
    --------
    >>> count_walks([[0, 1, 0], [1, 0, 1], [0, 1, 0]], 2)  # there and back again
    array([[1, 0, 1],
           [0, 2, 0],
           [1, 0, 1]])
    """
    A = _adjacency(adjacency)
    if (A < 0).any() or (np.round(A) != A).any():
        raise ValueError("adjacency must count edges: whole numbers, 0 or larger")
    if A.max() >= 2.0**53:
        raise ValueError("adjacency must hold counts below 2⁵³, the last that a float tells apart")
    k = length
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.linalg.matrix_power(A, k).max()
    if not size < 2.0**62:
        raise ValueError(f"there are more walks of length {k} than a 64-bit integer can count")
    return np.linalg.matrix_power(A.astype(np.int64), k)


@checked
def residual_layer(
    adjacency: ArrayLike,
    states: Annotated[Matrix, "nodes features"],
    inner: Annotated[Matrix, "features hidden"],
    outer: Annotated[Matrix, "hidden features"],
) -> Float[np.ndarray, "nodes features"]:
    r"""Add to each node the mean of what its neighbors say.

    .. math:: s_i' = s_i + \Bigl(\frac1{n_i}\sum_{j\in N(i)}\tanh(s_j W_2)\Bigr)W_1

    Parameters
    ----------
    adjacency : array_like, shape (nodes, nodes)
        As in :func:`message_passing`.
    states : array_like, shape (nodes, features)
        The rows :math:`s_i`.
    inner : array_like, shape (features, hidden)
        :math:`W_2`, the same for all edges.
    outer : array_like, shape (hidden, features)
        :math:`W_1`, the same for all nodes.

    Returns
    -------
    float array, shape (nodes, features)
        A node without neighbors keeps its state.

    Raises
    ------
    ValueError
        When shapes do not fit.

    Examples
    --------
    >>> residual_layer([[0, 1], [1, 0]], [[0.0], [5.0]], [[0.0]], [[1.0]]).ravel()
    array([0., 5.])
    """
    s = states
    edges = (_adjacency(adjacency) != 0).astype(float)
    return s + message_passing(edges, np.tanh(s @ inner), "mean") @ outer


@checked
def binary_cross_entropy(labels: Vector, probabilities: ArrayLike) -> float:
    r"""Compute the mean surprise of yes-or-no predictions, one for each node.

    .. math:: -\frac1n\sum_i \bigl[y_i\log\hat y_i+(1-y_i)\log(1-\hat y_i)\bigr]

    Parameters
    ----------
    labels : array_like, shape (n,)
        :math:`y_i`, 0 or 1.
    probabilities : array_like, shape (n,)
        :math:`\hat y_i`, strictly between 0 and 1.

    Returns
    -------
    float
        In nats, never negative.

    Raises
    ------
    ValueError
        When a label is neither 0 nor 1, a probability is 0, 1 or outside, or the lengths differ.

    Examples
    --------
    >>> round(binary_cross_entropy([1, 0], [0.5, 0.5]), 6)
    0.693147
    """
    y = labels
    p = vector("probabilities", probabilities, len(y))
    if not np.isin(y, (0, 1)).all():
        raise ValueError("labels must be 0 or 1")
    if p.min() <= 0 or p.max() >= 1:
        raise ValueError("probabilities must lie strictly between 0 and 1: a sure error costs ∞")
    return float(-(y * np.log(p) + (1 - y) * np.log1p(-p)).mean())


def _adjacency(adjacency: ArrayLike) -> Float[np.ndarray, "nodes nodes"]:
    """Return a square matrix."""
    A = matrix("adjacency", adjacency)
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"adjacency must be square, one row and one column for each node, got shape {A.shape}"
        )
    return A
