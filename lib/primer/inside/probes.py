r"""Read a number off states by a line, and tell the line that reads from the line that writes."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Float

from primer.inputs import Matrix, NotNegative, Vector, checked
from primer.inputs.magnitude import scaled
from primer.regression import ridge
from primer.regression.variation import share_explained


class Probe(NamedTuple):
    r"""A linear reading, :math:`x \cdot w + b`.

    Attributes
    ----------
    weights : array of shape (d,)
        w, in the unit of the target over that of the states.
    bias : float
        b.
    """

    weights: Float[np.ndarray, " d"]
    bias: float

    @checked
    def read(self, states: Matrix) -> Float[np.ndarray, " n"]:
        """Read states.

        Examples
        --------
        >>> Probe(np.array([2.0, 0.0]), 1.0).read(np.array([[1.0, 5.0]]))
        array([3.])
        """
        if states.shape[1] != len(self.weights):
            raise ValueError(
                f"states must have {len(self.weights)} columns, as many as the probe has weights, "
                f"got {states.shape[1]}"
            )
        return states @ self.weights + self.bias

    @checked
    def r_squared(self, states: Annotated[Matrix, "n d"], targets: Annotated[Vector, "n"]) -> float:
        r"""Compute the share of the targets' variance that is read, :math:`R^2`; below 0 if worse.

        Examples
        --------
        >>> states = np.array([[0.0], [1.0], [2.0]])
        >>> Probe(np.array([1.0]), 0.0).r_squared(states, np.array([0.0, 1.0, 2.0]))
        1.0
        """
        return share_explained(targets - self.read(states), targets - targets.mean())


@checked
def fit_probe(
    states: Annotated[Matrix, "n d"], targets: Annotated[Vector, "n"], penalty: NotNegative = 0.0
) -> Probe:
    r"""Fit a linear reading by ridge regression on centered states.

    .. math:: w = \arg\min_w \lVert (y - \bar y) - (X - \bar X)w\rVert^2 + \lambda\lVert w\rVert^2

    Parameters
    ----------
    states : array_like of shape (n, d)
        X, one state a row.
    targets : array_like of shape (n,)
        y.
    penalty : float
        :math:`\lambda \ge 0`.

    Returns
    -------
    Probe
        Weights and bias; the bias is not punished.

    Raises
    ------
    ValueError
        When all targets are equal: there is nothing to read; when numbers of rows differ.

    References
    ----------
    Alain and Bengio (2016); chapter *Regression* for the ridge.

    Examples
    --------
    >>> probe = fit_probe([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> round(float(probe.weights[0]), 4), round(probe.bias, 4)
    (2.0, 1.0)
    """
    if targets.min() == targets.max():
        raise ValueError(f"all targets are {targets[0]:g}: a probe needs two values to tell apart")
    first, other = states[0].copy(), float(targets[0])  # a common offset hides digits of a mean
    states, targets = states - first, targets - other
    center, middle = states.mean(axis=0), targets.mean()
    weights = ridge(states - center, targets - middle, penalty)
    return Probe(weights, float(middle - center @ weights + (other - first @ weights)))


@checked
def shortest_push(weights: Annotated[Vector, "d"]) -> Float[np.ndarray, " d"]:
    r"""Compute the shortest vector that moves a linear reading by 1.

    .. math:: \delta = \frac{w}{\lVert w\rVert^2}

    Parameters
    ----------
    weights : array_like of shape (d,)
        w, not 0.

    Returns
    -------
    array of shape (d,)
        A vector with :math:`\delta\cdot w = 1`.

    Raises
    ------
    ValueError
        When the weights are all 0.

    Examples
    --------
    >>> shortest_push([3.0, 4.0])
    array([0.12, 0.16])
    """
    if not weights.any():
        raise ValueError("weights are all 0: no push moves what they read")
    parts, scale = scaled(weights)
    return np.asarray(parts / (parts @ parts) / scale)


@checked
def pattern(
    weights: Annotated[Vector, "d"], covariance: Annotated[Matrix, "d d"]
) -> Float[np.ndarray, " d"]:
    r"""Compute along which direction the states move when what is read moves by 1.

    .. math:: a = \frac{\Sigma w}{w^\top\Sigma w}

    If states are :math:`x = sv + \epsilon` with noise that does not depend on s, the best
    reading has weights :math:`w \propto \operatorname{Cov}(\epsilon)^{-1}v`, and a is along v.

    Parameters
    ----------
    weights : array_like of shape (d,)
        w of a probe.
    covariance : array_like of shape (d, d)
        :math:`\Sigma` of the states.

    Returns
    -------
    array of shape (d,)
        A vector with :math:`a\cdot w = 1`.

    Raises
    ------
    ValueError
        When the states do not vary along w.

    References
    ----------
    Haufe et al. (2014).

    Examples
    --------
    >>> pattern([1.0, -1.0], [[2.0, 1.0], [1.0, 1.0]])  # read by a difference, written along one
    array([1., 0.])
    """
    if not np.allclose(covariance, covariance.T, rtol=1e-8, atol=0):
        raise ValueError("covariance must be symmetric, as that of states is")
    weights, scale = scaled(weights)
    moved = covariance @ weights
    variance = float(weights @ moved)
    if not variance > 0:
        raise ValueError("the states do not vary along the weights: there is no pattern")
    return np.asarray(moved / variance / scale)
