r"""Depth as folding: the tent map, its exact network, and how many straight pieces a net has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from primer.inputs import (
    NotNegative,
    Number,
    Probability,
    Reals,
    Side,
    Vector,
    checked,
    count,
    finite,
    vector,
)
from primer.networks.activations import relu
from primer.networks.layers import Layer, forward

MOST_FOLDS = 10_000
MOST_PLACES = 4_000_000


@checked
def tent(x: Reals, folds: int, crease: Probability = 0.5) -> Float[np.ndarray, "*shape"]:
    r"""Fold the interval from 0 to 1 over itself, again and again.

    .. math::
        t(x) = \begin{cases} x/a & x\le a\\ (1-x)/(1-a) & x>a \end{cases}, \qquad
        t^{\circ L} = t\circ\dots\circ t

    Parameters
    ----------
    x : array_like
        Numbers between 0 and 1.
    folds : int
        :math:`L\ge 0`; 0 leaves the interval as it is.
    crease : float
        :math:`a`, between 0 and 1.

    Returns
    -------
    float array
        Of the shape of ``x``, between 0 and 1; :math:`2^L` straight pieces.

    Raises
    ------
    ValueError
        When a number lies outside, the crease is 0 or 1, or the folds are negative.

    References
    ----------
    Telgarsky (2016).

    Examples
    --------
    >>> tent([0.0, 0.25, 0.5, 1.0], folds=1), tent(0.25, folds=2).item()
    (array([0. , 0.5, 1. , 0. ]), 1.0)
    """
    values = x
    if values.min() < 0 or values.max() > 1:
        raise ValueError("x must lie between 0 and 1, the interval that is folded")
    a = crease
    for _ in range(_folds(folds, at_least=0)):
        values = np.minimum(values / a, (1 - values) / (1 - a))
    return np.asarray(values)


@checked
def tent_network(folds: int, crease: Probability = 0.5) -> list[Layer]:
    r"""Write the folds as a ReLU network with two units in each hidden layer.

    .. math:: t(x) = \tfrac1a\max(0,x) - \tfrac{1}{a(1-a)}\max(0,x-a)

    Parameters
    ----------
    folds : int
        :math:`L\ge 1` hidden layers.
    crease : float
        :math:`a`, between 0 and 1.

    Returns
    -------
    list of Layer
        For :func:`primer.networks.forward` with ReLU: :math:`6L+1` numbers in all.

    Raises
    ------
    ValueError
        When there is no fold, or the crease is 0 or 1.

    References
    ----------
    Telgarsky (2016).

    Examples
    --------
    >>> from primer.networks import forward, relu
    >>> forward([[0.125], [0.25]], tent_network(3), relu).sums[-1].ravel()
    array([1., 0.])
    """
    a = crease
    after = np.array([[1 / a], [-1 / (a * (1 - a))]])  # one fold from its two units
    bias = np.array([0.0, -a])
    return _composed(after, bias, _folds(folds))


@checked
def zigzag_network(depth: int, width: Side) -> list[Layer]:
    r"""Write a zigzag of several legs, composed with itself, as a ReLU network.

    .. math::
        z(x) = w\max(0,x) + \sum_{j=1}^{w-1} (-1)^j\,2w\max\bigl(0,x-\tfrac jw\bigr)

    On the interval from 0 to 1 it goes up and down between 0 and 1, :math:`w` times in all; with
    two legs it is the tent.

    Parameters
    ----------
    depth : int
        :math:`L\ge 1` hidden layers: :math:`w^L` straight pieces.
    width : int
        :math:`w\ge 1` units in each of them.

    Returns
    -------
    list of Layer
        For :func:`primer.networks.forward` with ReLU.

    Raises
    ------
    ValueError
        When there is no layer or no unit.

    References
    ----------
    Telgarsky (2016).

    Examples
    --------
    >>> len(corners(zigzag_network(depth=2, width=3))) - 1
    9
    """
    w = width
    after = 2.0 * w * (-1.0) ** np.arange(w)[:, None]  # one zigzag from its units
    after[0] = w
    bias = -np.arange(w) / w
    return _composed(after, bias, _folds(depth, "depth"))


@checked
def corners(
    layers: Sequence[Layer], low: Number = 0.0, high: Number = 1.0
) -> Float[np.ndarray, " points"]:
    r"""Find every place between two numbers where a ReLU unit of a network switches.

    Between two such places the network is a straight line: the next layer's sums are interpolated
    there, and where one of them crosses 0 a new place is added.

    Parameters
    ----------
    layers : sequence of Layer
        A network with one input; the last layer switches nothing.
    low, high : float
        The ends of the interval.

    Returns
    -------
    float array
        Increasing, the two ends among them.

    Raises
    ------
    ValueError
        When the network takes more than one number, or the interval is empty.

    Examples
    --------
    >>> corners(tent_network(2))
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    if len(layers) == 0 or layers[0].weights.shape[0] != 1:
        raise ValueError("the network must have a layer and take one number")
    a, b = low, high
    if not a < b:
        raise ValueError(f"low must be less than high, got {low} and {high}")
    grid = np.array([a, b])
    for depth in range(1, len(layers)):
        passed = forward(grid[:, None], layers[:depth], relu)
        h, sums = passed.inputs[-1], passed.sums[-1]
        weights, bias = (1e-12 * abs(part) for part in layers[depth - 1])
        sums[abs(sums) < abs(h) @ weights + bias] = 0.0  # already a corner, but for rounding
        left, right = sums[:-1], sums[1:]
        cell, unit = np.nonzero(np.sign(left) * np.sign(right) < 0)
        share = 1 / (1 - right[cell, unit] / left[cell, unit])
        crossings = grid[cell] + share * (grid[cell + 1] - grid[cell])
        grid = _places(np.concatenate([grid, crossings]))
    return grid


@checked
@np.errstate(over="ignore", invalid="ignore")
def count_pieces(x: Vector, y: ArrayLike, tolerance: NotNegative = 1e-9) -> int:
    """Count the straight pieces of a function that is known at all its corners.

    Parameters
    ----------
    x : array_like, shape (n,)
        Increasing, with every corner among them; more points do no harm.
    y : array_like, shape (n,)
        The values.
    tolerance : float
        Slopes that differ by no more than this part of the steepest one are equal.

    Returns
    -------
    int
        1 and the number of places where the slope changes.

    Raises
    ------
    ValueError
        When there are fewer than two points or they do not increase.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 9)
    >>> count_pieces(x, abs(x)), count_pieces(x, 3 * x)
    (2, 1)
    """
    values = vector("y", y, len(x))
    if len(x) < 2 or np.diff(x).min() <= 0:
        raise ValueError("x must be two or more increasing numbers")
    slopes = finite("the slope", np.diff(values) / np.diff(x), "a step of x is too short for y")
    return 1 + int((abs(np.diff(slopes)) > tolerance * abs(slopes).max()).sum())


def _folds(folds: int, name: str = "folds", at_least: int = 1) -> int:
    """Return how often to fold: not so often that nobody waits for the end."""
    if count(name, folds, at_least=at_least) > MOST_FOLDS:
        raise ValueError(
            f"{name} must be at most {MOST_FOLDS}, got {folds}; after 60 no digit of x is left"
        )
    return folds


def _places(points: np.ndarray) -> np.ndarray:
    """Sort places, each once: not more than the memory holds."""
    if len(points) > MOST_PLACES:
        raise ValueError(
            f"the network has more than {MOST_PLACES:,} corners here; take fewer layers, or a "
            "smaller interval"
        )
    return np.unique(points)


def _composed(after: np.ndarray, bias: np.ndarray, depth: int) -> list[Layer]:
    """Stack a function of one number, a layer of units and how they are added up, on itself."""
    spread = np.ones((1, len(bias)))  # every unit gets the one number
    first, between = Layer(spread, bias), Layer(after @ spread, bias)
    return [first, *[between] * (depth - 1), Layer(after, np.zeros(1))]
