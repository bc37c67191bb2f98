r"""A network written out: its layers, what they compute, and the chain rule through them by hand.

Rows are examples: a layer takes :math:`h` to :math:`f(hW+b)`, the last one has no :math:`f`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from primer.inputs import Matrix, NotNegative, checked, count, matrix, room, vector
from primer.networks.activations import Activation


class Layer(NamedTuple):
    r"""The parameters of one layer, :math:`h\mapsto hW+b`."""

    weights: Float[np.ndarray, "inputs outputs"]
    bias: Float[np.ndarray, " outputs"]


class Pass(NamedTuple):
    """What each layer saw and made on the way forward.

    Attributes
    ----------
    inputs : list of float array
        What went into each layer, the data first.
    sums : list of float array
        What each layer computed before its activation; the last is the network's output.
    """

    inputs: list[Float[np.ndarray, "batch _"]]
    sums: list[Float[np.ndarray, "batch _"]]


@checked
def count_parameters(sizes: Sequence[int]) -> int:
    r"""Count weights and biases of a fully connected network.

    .. math:: \sum_{\ell=1}^{L} (d_{\ell-1}+1)\,d_\ell

    Parameters
    ----------
    sizes : sequence of int
        The widths :math:`d_0, \dots, d_L`, input first: at least two, each 1 or more.

    Returns
    -------
    int
        How many numbers are trained.

    Raises
    ------
    ValueError
        When there are fewer than two widths, or one is below 1.

    Examples
    --------
    >>> count_parameters([64, 50, 10])
    3760
    """
    widths = _sizes(sizes)
    return sum((a + 1) * b for a, b in itertools.pairwise(widths))


@checked
def initialize(
    sizes: Sequence[int], rng: np.random.Generator, gain: NotNegative = 2.0
) -> list[Layer]:
    r"""Draw the weights of a fully connected network; biases are 0.

    .. math:: W_{ij} \sim N(0, g/d_{\text{in}})

    Parameters
    ----------
    sizes : sequence of int
        The widths, input first.
    rng : numpy.random.Generator
        Where the numbers come from.
    gain : float
        :math:`g\ge 0`; 2 keeps the size of the signal through ReLU layers, 1 through linear ones.

    Returns
    -------
    list of Layer
        One for each pair of neighboring widths.

    Raises
    ------
    ValueError
        When there are fewer than two widths, or one is below 1, or the gain is negative.

    References
    ----------
    He et al. (2015).

    Examples
    --------
    >>> [layer.weights.shape for layer in initialize([3, 5, 2], np.random.default_rng(0))]
    [(3, 5), (5, 2)]
    """
    pairs = list(itertools.pairwise(_sizes(sizes)))
    for place, (a, b) in enumerate(pairs):
        room(**{f"sizes[{place}]": a, f"sizes[{place + 1}]": b})
    return [Layer(rng.normal(size=(a, b)) * np.sqrt(gain / a), np.zeros(b)) for a, b in pairs]


@checked
def forward(x: Matrix, layers: Sequence[Layer], activation: Activation) -> Pass:
    r"""Send a batch through a network and keep what each layer made.

    .. math:: h_0 = x, \qquad z_\ell = h_{\ell-1}W_\ell + b_\ell, \qquad h_\ell = f(z_\ell)

    Parameters
    ----------
    x : array_like, shape (batch, inputs)
        Examples as rows.
    layers : sequence of Layer
        In their order.
    activation : Activation
        :math:`f`, after every layer but the last.

    Returns
    -------
    Pass
        The inputs :math:`h_{\ell-1}` and the sums :math:`z_\ell` of all layers.

    Raises
    ------
    ValueError
        When there is no layer, or a width does not fit the next.

    Examples
    --------
    >>> from primer.networks import relu
    >>> stack = [Layer(np.array([[1.0, -1.0]]), np.zeros(2)), Layer(np.ones((2, 1)), np.zeros(1))]
    >>> forward([[-3.0], [2.0]], stack, relu).sums[-1].ravel()  # relu(x) + relu(-x) = |x|
    array([3., 2.])
    """
    h = x
    if not layers:
        raise ValueError("layers is empty; a network has at least one layer")
    inputs, sums = [], []
    for number, layer in enumerate(layers):
        W = matrix(f"weights of layer {number}", layer.weights)
        b = vector(f"bias of layer {number}", layer.bias, W.shape[1])
        if h.shape[1] != len(W):
            raise ValueError(
                f"layer {number} takes rows of length {len(W)}, got length {h.shape[1]}"
            )
        inputs.append(h)
        sums.append(h @ W + b)
        h = activation(sums[-1])
    return Pass(inputs, sums)


@checked
def backward(
    passed: Pass,
    layers: Sequence[Layer],
    activation: Activation,
    output_gradient: Matrix,
) -> list[Layer]:
    r"""Compute the gradient of every parameter by the chain rule, from the output to the input.

    .. math::
        \delta_L = \frac{\partial \mathcal L}{\partial z_L}, \qquad
        \frac{\partial \mathcal L}{\partial W_\ell} = h_{\ell-1}^\top\delta_\ell, \qquad
        \delta_{\ell-1} = \bigl(\delta_\ell W_\ell^\top\bigr)\circ f'(z_{\ell-1})

    Parameters
    ----------
    passed : Pass
        What :func:`forward` returned.
    layers : sequence of Layer
        The same layers.
    activation : Activation
        The same activation.
    output_gradient : array_like, shape (batch, outputs)
        :math:`\delta_L`, the gradient of the loss with respect to the network's output.

    Returns
    -------
    list of Layer
        The gradients, in the places of the parameters.

    Raises
    ------
    ValueError
        When the gradient has not the shape of the output, or the layers are not those of the pass.

    References
    ----------
    Rumelhart, Hinton and Williams (1986).

    Examples
    --------
    >>> from primer.networks import relu
    >>> layers = [Layer(np.array([[3.0]]), np.zeros(1)), Layer(np.array([[2.0]]), np.zeros(1))]
    >>> [g.weights.item() for g in backward(forward([[5.0]], layers, relu), layers, relu, [[1.0]])]
    [10.0, 15.0]
    """
    delta = output_gradient
    if len(layers) != len(passed.sums):
        raise ValueError(f"the pass has {len(passed.sums)} layers, got {len(layers)}")
    if delta.shape != passed.sums[-1].shape:
        raise ValueError(
            f"output_gradient must have the output's shape {passed.sums[-1].shape}, "
            f"got {delta.shape}"
        )
    gradients = []
    for number in reversed(range(len(layers))):
        gradients.append(Layer(passed.inputs[number].T @ delta, delta.sum(axis=0)))
        if number:
            slope = activation.derivative(passed.sums[number - 1])
            delta = (delta @ layers[number].weights.T) * slope
    return gradients[::-1]


def _sizes(sizes: Sequence[int]) -> list[int]:
    """Return the widths of a network."""
    if len(sizes) < 2:
        raise ValueError(f"sizes needs an input and an output width, got {list(sizes)}")
    return [count(f"sizes[{i}]", size) for i, size in enumerate(sizes)]
