r"""Many features in few dimensions: a small network that has to choose what it keeps."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from primer.inputs import Count, Dim, Positive, Steps, checked
from primer.inside.superposition import Chance


class Toy(NamedTuple):
    r"""A trained network of :func:`train_toy`.

    Attributes
    ----------
    weights : Tensor of shape (features, dims)
        W, a direction for each feature.
    bias : Tensor of shape (features,)
        b.
    loss : float
        On 8,000 new examples, the sum over features.
    """

    weights: Float[Tensor, "features dims"]
    bias: Float[Tensor, " features"]
    loss: float

    @property
    def lengths(self) -> Float[Tensor, " features"]:
        r"""How much room each feature has, :math:`\lVert W_i\rVert`."""
        return self.weights.norm(dim=1)


@checked
def sparse_examples(
    n: Dim, features: Dim, p: Chance, generator: torch.Generator
) -> Float[Tensor, "n features"]:
    """Draw features that are active with chance p each, and then uniform on [0, 1].

    Parameters
    ----------
    n, features : int
        Examples, and features of each.
    p : float
        The chance to be active.
    generator : torch.Generator
        Draws both.

    Returns
    -------
    Tensor of shape (n, features)
        Zeros where a feature is not active.

    Examples
    --------
    >>> sparse_examples(2, 3, 0.0, torch.Generator())
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    values = torch.rand(n, features, generator=generator)
    return values * (torch.rand(n, features, generator=generator) < p)


@torch.enable_grad()
@checked
def train_toy(
    dims: Count,
    p: Chance,
    importance: Float[Tensor, " features"],
    generator: torch.Generator,
    *,
    steps: Steps = 4000,
    learning_rate: Positive = 0.01,
    bend: bool = True,
) -> Toy:
    r"""Train a network that must write many features in few numbers.

    .. math::
        \hat x = \operatorname{ReLU}(xWW^\top + b), \qquad
        L = E\sum_i I_i\,(x_i - \hat x_i)^2

    Parameters
    ----------
    dims : int
        The numbers that there are.
    p : float
        How often a feature is active.
    importance : Tensor of shape (features,)
        :math:`I_i \ge 0`.
    generator : torch.Generator
        Draws the first weights and every batch, of 512 examples.
    steps : int
        Of Adam.
    learning_rate : float
        At first; it falls to 0 along half a cosine.
    bend : bool
        With False the ReLU is left out: a linear network.

    Returns
    -------
    Toy
        Weights, biases and the loss.

    Raises
    ------
    ValueError
        When an importance is negative, or a number is out of range.

    References
    ----------
    Elhage et al. (2022), "Toy models of superposition".

    Examples
    --------
    >>> toy = train_toy(1, 0.1, torch.ones(2), torch.Generator().manual_seed(0), steps=300)
    >>> bool(toy.weights[0] * toy.weights[1] < -0.5)  # opposite signs in one number
    True
    """
    if bool((importance < 0).any()):
        raise ValueError("importance must not be negative: a feature that nobody needs has 0")
    features = len(importance)
    weights = torch.randn(features, dims, generator=generator) / math.sqrt(features)
    bias = torch.zeros(features)
    weights.requires_grad_(), bias.requires_grad_()
    optimizer = torch.optim.Adam([weights, bias], lr=learning_rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)

    def loss_on(n: int) -> Tensor:
        x = sparse_examples(n, features, p, generator)
        found = x @ weights @ weights.T + bias
        found = found.relu() if bend else found
        return (importance * (x - found) ** 2).sum(1).mean()

    for _ in range(steps):
        optimizer.zero_grad()
        loss_on(512).backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return Toy(weights.detach(), bias.detach(), float(loss_on(8000)))
