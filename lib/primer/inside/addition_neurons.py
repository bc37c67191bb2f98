r"""The neurons of a network that adds: which wave each of them is, and what the waves explain."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from primer.fourier import dft
from primer.inputs import checked
from primer.inputs.magnitude import scaled
from primer.inside.addition import AdditionNetwork


class Neurons(NamedTuple):
    r"""What waves the columns of a table are, :math:`A\cos(2\pi ka/p + \varphi)`.

    Attributes
    ----------
    frequency : array of int of shape (width,)
        k with the most power, from 1 to (p − 1)/2.
    share : array of shape (width,)
        Its share of the power without the constant.
    phase : array of shape (width,)
        :math:`\varphi`, in radians.
    """

    frequency: Int[np.ndarray, " width"]
    share: Float[np.ndarray, " width"]
    phase: Float[np.ndarray, " width"]


@checked
def neurons(weights: Float[Tensor, "p width"]) -> Neurons:
    r"""Read each column as a wave: its frequency, how pure it is, and its phase.

    .. math:: X_k = \sum_{a=0}^{p-1} w_a\,e^{-2\pi ika/p}, \qquad \varphi = \arg X_k

    Parameters
    ----------
    weights : Tensor of shape (p, width)
        A table, or an output matrix transposed; p is odd.

    Returns
    -------
    Neurons
        For each column.

    Raises
    ------
    ValueError
        When p is even, or a column is constant.

    References
    ----------
    Nanda et al. (2023); chapter *Fourier analysis* for the transform.

    Examples
    --------
    >>> angle = 2 * math.pi * 2 * torch.arange(5, dtype=torch.float64) / 5
    >>> found = neurons((angle + 0.5).cos()[:, None])
    >>> found.frequency.tolist(), found.share.round(4).tolist(), found.phase.round(4).tolist()
    ([2], [1.0], [0.5])
    """
    p = len(weights)
    if p % 2 == 0 or p < 3:
        raise ValueError(f"the table needs an odd number of rows, 3 or more, got {p}")
    same = (weights == weights[0]).all(0)
    if same.any():
        raise ValueError(f"column {int(same.int().argmax())} is constant: it has no frequency")
    columns = weights.detach().double().numpy().T
    columns, _ = scaled(columns / 2 - columns[:, :1] / 2, axis=1)  # in parts of a wave of any size
    half = dft(columns)[:, 1 : (p + 1) // 2]  # (width, (p − 1)/2)
    power = np.abs(half) ** 2
    best = power.argmax(1)
    rows = np.arange(len(best))
    share = power[rows, best] / power.sum(1)
    return Neurons(best + 1, share, np.angle(half[rows, best]))


@checked
def own_waves(network: AdditionNetwork, keep: bool = True) -> AdditionNetwork:
    """Keep of every neuron its constant and its own frequency alone, or take that frequency out.

    Parameters
    ----------
    network : AdditionNetwork
        A network; the frequency of a neuron is that of its column of the table.
    keep : bool
        With False the frequency is taken out, and all others stay.

    Returns
    -------
    AdditionNetwork
        With other weights.

    Examples
    --------
    >>> from primer.inside import handmade_addition
    >>> network = handmade_addition(5)
    >>> torch.allclose(own_waves(network).table, network.table)  # they are pure
    True
    """
    p = len(network.table)
    found = neurons(network.table).frequency
    numbers = torch.arange(p, dtype=torch.float64)[:, None]
    angle = 2 * math.pi / p * torch.as_tensor(found, dtype=torch.float64) * numbers  # (p, width)
    waves = torch.stack([angle.cos(), angle.sin()])

    def part(columns: Tensor) -> Tensor:
        w = columns.double()
        own = (2 / p * (waves * w).sum(1, keepdim=True) * waves).sum(0)
        return ((own + w.mean(0)) if keep else (w - own)).to(columns.dtype)

    return network._replace(table=part(network.table), output=part(network.output.T).T)


@checked
def explained_by(logits: Float[Tensor, "pairs p"], a: int = 1, b: int = 1) -> float:
    r"""Compute which share of all logits' variance depends on :math:`\alpha a + \beta b - c` alone.

    Parameters
    ----------
    logits : Tensor of shape (p², p)
        For all pairs in the order of :func:`modular_pairs`.
    a, b : int
        :math:`\alpha` and :math:`\beta`.

    Returns
    -------
    float
        The variance of the means over equal :math:`\alpha a + \beta b - c` modulo p, over the
        variance of logits that have lost their mean over the answers.

    Raises
    ------
    ValueError
        When there are not p² rows, or the logits do not vary.

    Examples
    --------
    >>> from primer.inside import handmade_addition, modular_pairs
    >>> logits = handmade_addition(5).logits(modular_pairs(5))
    >>> round(explained_by(logits), 4), round(explained_by(logits, 2, 0), 4)
    (0.6667, 0.1667)
    """
    p = logits.shape[1]
    if len(logits) != p * p:
        raise ValueError(f"{p} answers need {p * p} pairs, got {len(logits)}")
    if p == 0:
        raise ValueError("logits are empty: there is no answer")
    wide = logits.detach().double()
    wide = wide - wide[:, :1]  # a common offset would hide digits of the mean
    cube = (wide - wide.mean(1, keepdim=True)).reshape(p, p, p)
    numbers = torch.arange(p)
    kind = (a % p * numbers[:, None, None] + b % p * numbers[:, None] - numbers) % p
    sums = torch.zeros(p, dtype=torch.float64).index_add(0, kind.flatten(), cube.flatten())
    total = float(cube.square().mean())
    if total == 0:
        raise ValueError("all answers have the same logit: there is nothing to explain")
    return float((sums / (p * p)).square().mean()) / total
